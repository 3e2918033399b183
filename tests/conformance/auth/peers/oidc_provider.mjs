// npm oidc-provider with the clients of the tests, and pages that a test answers by a form instead of a person.
// node oidc_provider.mjs '{"clients": […], "valkey": "redis://…" | null, "audience": "…" | null, "refreshAlways": false}'
import { generateKeyPair } from "node:crypto";
import { createServer } from "node:http";
import { promisify } from "node:util";

import { Provider, interactionPolicy } from "oidc-provider";

import { valkeyAdapter } from "./valkey_adapter.mjs";

const told = JSON.parse(process.argv[2]);
const API_SCOPES = "fleet:read fleet:write";

async function key(type, options, more) {
  const { privateKey } = await promisify(generateKeyPair)(type, options);
  return { ...privateKey.export({ format: "jwk" }), use: "sig", ...more };
}

const policy = interactionPolicy.base();
policy.add(new interactionPolicy.Prompt({ name: "select_account", requestable: true }), 0);

async function grantFor(provider, accountId, clientId, scopes, resources) {
  const grant = new provider.Grant({ accountId, clientId });
  if (scopes) grant.addOIDCScope(scopes);
  for (const resource of resources) grant.addResourceScope(resource, API_SCOPES);
  return grant;
}

const configuration = {
  adapter: told.valkey ? valkeyAdapter(told.valkey) : undefined,
  clients: told.clients.map(({ trusted: _trusted, ...client }) => client),
  scopes: ["openid", "offline_access", "profile", "email", ...API_SCOPES.split(" ")],
  claims: { openid: ["sub"], profile: ["name", "preferred_username"], email: ["email"] },
  cookies: { keys: ["made up for the tests"], long: { httpOnly: true, sameSite: "none" } },
  enableHttpPostMethods: true,
  pkce: { required: () => true },
  jwks: {
    keys: [
      await key("ec", { namedCurve: "P-256" }, { alg: "ES256", kid: "ec" }),
      await key("rsa", { modulusLength: 2048 }, { alg: "RS256", kid: "rsa" }),
    ],
  },
  interactions: { policy, url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    revocation: { enabled: true },
    backchannelLogout: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => told.audience ?? undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, audience) => ({
        audience,
        scope: API_SCOPES,
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  },
  ttl: { AccessToken: 600, AuthorizationCode: 120, ClientCredentials: 600, IdToken: 600, RefreshToken: 1209600 },
  findAccount: (_ctx, sub) => ({
    accountId: sub,
    claims: () => ({ sub, name: "Ada Example", preferred_username: sub, email: `${sub}@loom.example` }),
  }),
  // Where tokens are only made to be measured, nobody is asked for the consent that offline_access needs.
  ...(told.refreshAlways ? { issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token") } : {}),
  // Clients of the house are not asked about.
  async loadExistingGrant(ctx) {
    const { client, session, params } = ctx.oidc;
    const known = ctx.oidc.result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    if (known) return provider.Grant.find(known);
    if (!told.clients.find((each) => each.client_id === client.clientId).trusted) return undefined;
    const resources = [params.resource ?? told.audience ?? []].flat();
    const grant = await grantFor(provider, session.accountId, client.clientId, params.scope, resources);
    await grant.save();
    return grant;
  },
};

const server = createServer((request, response) => handle(request, response));
await new Promise((listening) => server.listen(told.port ?? 0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, configuration);
const callback = provider.callback();

async function formOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()));
}

async function decide(details, form) {
  if (form.decision === "deny") return { error: "access_denied" };
  if (details.prompt.name !== "consent") return { login: { accountId: form.account }, select_account: {} };
  const { missingOIDCScope, missingResourceScopes } = details.prompt.details;
  const resources = Object.keys(missingResourceScopes ?? {});
  const grant = details.grantId
    ? await provider.Grant.find(details.grantId)
    : await grantFor(provider, details.session.accountId, details.params.client_id, "", []);
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(" "));
  for (const resource of resources) grant.addResourceScope(resource, missingResourceScopes[resource].join(" "));
  return { consent: { grantId: await grant.save() } };
}

async function interact(request, response) {
  const details = await provider.interactionDetails(request, response);
  if (request.method === "POST") {
    const result = await decide(details, await formOf(request));
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
    return;
  }
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ asks: details.prompt.name }));
}

async function handle(request, response) {
  if (request.url === "/healthz") {
    response.end("ok");
    return;
  }
  if (!request.url.startsWith("/interaction/")) {
    callback(request, response);
    return;
  }
  try {
    await interact(request, response);
  } catch (error) {
    response.statusCode = 400;
    response.end(JSON.stringify({ error: error.message }));
  }
}

console.log(JSON.stringify({ issuer }));
