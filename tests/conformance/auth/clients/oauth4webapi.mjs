// One whole life of a sign-in by oauth4webapi, and a device.
import * as oauth from "oauth4webapi";

import { Browser } from "./browser.mjs";

const told = JSON.parse(process.argv[2]);
const browser = new Browser(told.issuer, told.cookieName, told.cookie);
const insecure = { [oauth.allowInsecureRequests]: true };
const authentication = told.secret === null ? oauth.None() : oauth[told.method](told.secret);
const client = { client_id: told.clientId };
const issuer = new URL(told.issuer);
const found = await oauth.discoveryRequest(issuer, insecure);
const server = await oauth.processDiscoveryResponse(issuer, found);

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const nonce = oauth.generateRandomNonce();
const asked = new URL(server.authorization_endpoint);
asked.search = new URLSearchParams({
  client_id: told.clientId,
  response_type: "code",
  redirect_uri: told.redirectUri,
  scope: told.scope,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
  nonce,
});

const { back, questions } = await browser.authorize(asked);
const parameters = oauth.validateAuthResponse(server, client, back, state);
const redeemed = await oauth.authorizationCodeGrantRequest(
  server, client, authentication, parameters, told.redirectUri, verifier, insecure,
);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, redeemed, {
  expectedNonce: nonce,
  requireIdToken: true,
});
await oauth.validateApplicationLevelSignature(server, redeemed, insecure);
const claims = oauth.getValidatedIdTokenClaims(tokens);

const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token, insecure);
const refreshed = await oauth.processRefreshTokenResponse(server, client, answer);
const told_of = await oauth.userInfoRequest(server, client, refreshed.access_token, insecure);
const userinfo = await oauth.processUserInfoResponse(server, client, claims.sub, told_of);

const begun = await oauth.deviceAuthorizationRequest(server, client, authentication, { scope: told.scope }, insecure);
const waiting = await oauth.processDeviceAuthorizationResponse(server, client, begun);
await browser.confirmDevice(waiting.verification_uri, waiting.user_code);
const polled = await oauth.deviceCodeGrantRequest(server, client, authentication, waiting.device_code, insecure);
const device = await oauth.processDeviceCodeResponse(server, client, polled);

const leaving = new URL(server.end_session_endpoint);
leaving.search = new URLSearchParams({
  id_token_hint: refreshed.id_token,
  post_logout_redirect_uri: told.afterwards,
  state: "bye",
});
const left = await browser.visit(leaving);
const again = await browser.visit(asked);
await oauth.processRevocationResponse(
  await oauth.revocationRequest(server, client, authentication, refreshed.refresh_token, insecure),
);
let refusal = null;
try {
  await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, authentication, refreshed.refresh_token, insecure),
  );
} catch (error) {
  refusal = error.error;
}

console.log(
  JSON.stringify({
    questions,
    claims,
    refreshedClaims: oauth.getValidatedIdTokenClaims(refreshed),
    deviceClaims: oauth.getValidatedIdTokenClaims(device),
    userinfo,
    left: left.headers.get("location"),
    again: again.headers.get("location"),
    refusal,
  }),
);
