/** Requests to external servers whose addresses come from people or from other servers. */
import { definePlugin, Type } from 'archivolt'
import { type FetchOutside, openFetch } from './fetch.ts'

export default definePlugin({
  name: 'fetch',
  settings: {
    privateHosts: {
      env: 'AV_PRIVATE_HOSTS',
      schema: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_.:-]+$' }), {
        description: 'a list of names or addresses, such as nas.lan or 192.168.1.9',
      }),
      default: [],
      meaning:
        'servers in private networks that may be contacted for webhooks, media servers, the sign-in provider, ' +
        "another program's Elasticsearch, and external plugins",
    },
    fetchProxy: {
      env: 'AV_FETCH_PROXY',
      schema: Type.Union([
        Type.String({
          minLength: 1,
          pattern: '^https?://[^\\s/?#]+/?$',
          description: 'the address of a proxy, such as http://name:password@192.168.1.2:3128',
        }),
        Type.Null(),
      ]),
      default: null,
      secret: true,
      meaning:
        'HTTP proxy for requests of webhooks and external plugins, and for requests to media servers, the sign-in ' +
        "provider and another program's Elasticsearch; hosts in `AV_PRIVATE_HOSTS` are contacted directly",
    },
  },
  services: (app) => ({ fetch: openFetch(app) }),
})

declare module 'archivolt' {
  interface App {
    /**
     * Sends a request to an external server, whose address may come from people or from other servers. Limits: 30 s, 5
     * MB, five redirects. Uses the proxy in AV_FETCH_PROXY. Refuses private networks except the hosts in
     * AV_PRIVATE_HOSTS. Any status is a valid response.
     * @throws bad_request: the address is not allowed; unavailable: no response
     */
    readonly fetch: FetchOutside
  }
  interface Settings {
    privateHosts: string[]
    fetchProxy: string | null
  }
}
