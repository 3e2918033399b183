// One whole life of a sign-in by openid-client, and a device.
import * as client from "openid-client";

import { Browser } from "./browser.mjs";

const told = JSON.parse(process.argv[2]);
const browser = new Browser(told.issuer, told.cookieName, told.cookie);
const insecure = { execute: [client.allowInsecureRequests] };
const authentication = told.secret === null ? client.None() : client[told.method](told.secret);
const config = await client.discovery(new URL(told.issuer), told.clientId, undefined, authentication, insecure);

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const nonce = client.randomNonce();
const asked = client.buildAuthorizationUrl(config, {
  redirect_uri: told.redirectUri,
  scope: told.scope,
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
  nonce,
});

const { back, questions } = await browser.authorize(asked);
const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
const tokens = await client.authorizationCodeGrant(config, back, checks);
const claims = tokens.claims();
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
const userinfo = await client.fetchUserInfo(config, refreshed.access_token, claims.sub);

const waiting = await client.initiateDeviceAuthorization(config, { scope: told.scope });
await browser.confirmDevice(waiting.verification_uri, waiting.user_code);
const device = await client.pollDeviceAuthorizationGrant(config, { ...waiting, interval: 0.1 });

const leaving = client.buildEndSessionUrl(config, {
  id_token_hint: refreshed.id_token,
  post_logout_redirect_uri: told.afterwards,
  state: "bye",
});
const left = await browser.visit(leaving);
const again = await browser.visit(asked);
await client.tokenRevocation(config, refreshed.refresh_token);
let refusal = null;
try {
  await client.refreshTokenGrant(config, refreshed.refresh_token);
} catch (error) {
  refusal = error.error;
}

console.log(
  JSON.stringify({
    questions,
    claims,
    refreshedClaims: refreshed.claims(),
    deviceClaims: device.claims(),
    userinfo,
    left: left.headers.get("location"),
    again: again.headers.get("location"),
    refusal,
  }),
);
