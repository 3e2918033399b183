// One whole life of a sign-in by openid-client; the browser in between is plain HTTP with a session's cookie.
import * as client from "openid-client";

const told = JSON.parse(process.argv[2]);
const insecure = { execute: [client.allowInsecureRequests] };
const authentication = told.secret === null ? client.None() : client[told.method](told.secret);
const config = await client.discovery(new URL(told.issuer), told.clientId, undefined, authentication, insecure);

const cookies = new Map([[told.cookieName, told.cookie]]);

async function visit(address, form) {
  const headers = {
    Accept: "text/html",
    Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
  };
  const options = form ? { method: "POST", body: new URLSearchParams(form) } : {};
  const answer = await fetch(address, { ...options, headers, redirect: "manual" });
  for (const header of answer.headers.getSetCookie()) {
    const [pair] = header.split(";");
    cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
  }
  return answer;
}

async function agree(page) {
  const field = (name) => page.match(new RegExp(`name="${name}" value="([^"]*)"`))[1];
  const form = { csrf_token: field("csrf_token"), request: field("request"), decision: "allow" };
  return visit(new URL("/auth/consent", told.issuer), form);
}

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const nonce = client.randomNonce();
const asked = client.buildAuthorizationUrl(config, {
  redirect_uri: told.redirectUri,
  scope: "openid profile offline_access fleet:read",
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
  nonce,
});

let answer = await visit(asked);
const questions = answer.status === 200 ? 1 : 0;
if (questions) answer = await agree(await answer.text());
const back = new URL(answer.headers.get("location"));
const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
const tokens = await client.authorizationCodeGrant(config, back, checks);
const claims = tokens.claims();
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
const userinfo = await client.fetchUserInfo(config, refreshed.access_token, claims.sub);

const leaving = client.buildEndSessionUrl(config, {
  id_token_hint: refreshed.id_token,
  post_logout_redirect_uri: told.afterwards,
  state: "bye",
});
const left = await visit(leaving);
const again = await visit(asked);
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
    userinfo,
    left: left.headers.get("location"),
    again: again.headers.get("location"),
    refusal,
  }),
);
