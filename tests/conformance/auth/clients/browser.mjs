// What stands between a client and the person: plain HTTP with a session's cookie, and answers to questions.
export class Browser {
  constructor(issuer, cookieName, cookie) {
    this.issuer = issuer;
    this.cookies = new Map([[cookieName, cookie]]);
  }

  async visit(address, form) {
    const headers = {
      Accept: "text/html",
      Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    };
    const options = form ? { method: "POST", body: new URLSearchParams(form) } : {};
    const answer = await fetch(address, { ...options, headers, redirect: "manual" });
    for (const header of answer.headers.getSetCookie()) {
      const [pair] = header.split(";");
      this.cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    return answer;
  }

  // Where the client's request leads, agreed to if that is asked, and whether it was.
  async authorize(address) {
    const answer = await this.visit(address);
    if (answer.status !== 200) return { back: new URL(answer.headers.get("location"), this.issuer), questions: 0 };
    const form = { ...fields(await answer.text(), "csrf_token", "request"), decision: "allow" };
    const agreed = await this.visit(new URL("/auth/consent", this.issuer), form);
    return { back: new URL(agreed.headers.get("location")), questions: 1 };
  }

  // Type a device's code, look at it and allow it.
  async confirmDevice(address, userCode) {
    const page = await this.visit(`${address}?${new URLSearchParams({ user_code: userCode })}`);
    const form = { ...fields(await page.text(), "csrf_token", "user_code"), decision: "allow" };
    return this.visit(new URL("/auth/device/decision", this.issuer), form);
  }
}

function fields(page, ...names) {
  return Object.fromEntries(names.map((name) => [name, page.match(new RegExp(`name="${name}" value="([^"]*)"`))[1]]));
}
