/** A client that keeps cookies by origin, as a browser does, and stops at each redirect unless it is told to follow. */

export class Jar {
  readonly #cookies = new Map<string, Map<string, string>>()

  async ask(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url)
    const own = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, own)
    const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) own.delete(pair.slice(0, at))
      else own.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return response
  }

  /**
   * Follows redirects within and between origins.
   * @param until  stops before it requests an address with this prefix
   */
  async follow(url: string, until?: string): Promise<{ url: string; response: Response }> {
    for (let at = url, left = 15; left > 0; left--) {
      const response = await this.ask(at)
      const to = response.headers.get('location')
      if (to === null) return { url: at, response }
      at = new URL(to, at).href
      if (until !== undefined && at.startsWith(until)) return { url: at, response }
    }
    throw new Error('Redirects without end')
  }

  cookie(url: string, name: string): string | undefined {
    return this.#cookies.get(new URL(url).origin)?.get(name)
  }

  put(url: string, name: string, value: string): void {
    const { origin } = new URL(url)
    this.#cookies.set(origin, (this.#cookies.get(origin) ?? new Map<string, string>()).set(name, value))
  }
}
