// The provider's state on Valkey: a value for each model, an index for user codes, sessions and grants.
import Valkey from "iovalkey";

const USED_ONCE = new Set(["AuthorizationCode", "RefreshToken", "DeviceCode", "BackchannelAuthenticationRequest"]);
const OF_A_GRANT = new Set(["AccessToken", ...USED_ONCE]);

export function valkeyAdapter(url) {
  const valkey = new Valkey(url);
  const kept = (name) => `oidc:${name}`;

  return class ValkeyAdapter {
    constructor(model) {
      this.model = model;
    }

    key(id) {
      return kept(`${this.model}:${id}`);
    }

    async upsert(id, payload, seconds) {
      const key = this.key(id);
      const batch = valkey.multi();
      if (USED_ONCE.has(this.model)) batch.hset(key, "payload", JSON.stringify(payload));
      else batch.set(key, JSON.stringify(payload));
      if (seconds) batch.expire(key, seconds);
      const index = (name) => batch.set(kept(name), id, "EX", seconds);
      if (payload.userCode) index(`userCode:${payload.userCode}`);
      if (payload.uid && this.model === "Session") index(`uid:${payload.uid}`);
      if (payload.grantId && OF_A_GRANT.has(this.model)) {
        const members = kept(`grant:${payload.grantId}`);
        batch.sadd(members, key);
        batch.expire(members, 14 * 24 * 3600);
      }
      await batch.exec();
    }

    async find(id) {
      const key = this.key(id);
      if (!USED_ONCE.has(this.model)) {
        const found = await valkey.get(key);
        return found ? JSON.parse(found) : undefined;
      }
      const { payload, consumed } = await valkey.hgetall(key);
      if (!payload) return undefined;
      return { ...JSON.parse(payload), ...(consumed ? { consumed: Number(consumed) } : {}) };
    }

    async findByUid(uid) {
      return this.find(await valkey.get(kept(`uid:${uid}`)));
    }

    async findByUserCode(userCode) {
      return this.find(await valkey.get(kept(`userCode:${userCode}`)));
    }

    async consume(id) {
      await valkey.hset(this.key(id), "consumed", Math.floor(Date.now() / 1000));
    }

    async destroy(id) {
      await valkey.del(this.key(id));
    }

    async revokeByGrantId(grantId) {
      const members = kept(`grant:${grantId}`);
      await valkey.del(members, ...(await valkey.smembers(members)));
    }
  };
}
