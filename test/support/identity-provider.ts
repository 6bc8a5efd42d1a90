/** A real OpenID Connect provider on loopback: users sign in by their name, and it signs their claims. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

export const CLIENT_ID = 'archivolt'
export const CLIENT_SECRET = 'a secret of the provider'

export interface Person {
  preferred_username?: string
  groups?: unknown
}

export interface IdentityProvider {
  issuer: string
  /** The known users by subject. */
  people: Map<string, Person>
  /**
   * Registers the client's addresses.
   * @param urls  addresses of servers, with their final slash
   */
  admit(...urls: string[]): Promise<void>
}

interface Scope {
  after(cleanUp: () => void): void
}

/** The sign-in form, which asks for a name. Unknown users are sent back with a refusal. */
async function interaction(
  provider: Provider,
  people: IdentityProvider['people'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response)
  if (request.method !== 'POST') {
    response.setHeader('content-type', 'text/html')
    response.end(
      '<!doctype html><html lang="en"><title>Provider</title><main><h1>Provider</h1><form method="post"><label>Who <input name="who"></label><button>Go on</button></form></main>',
    )
    return
  }
  const accountId = new URLSearchParams(await text(request)).get('who') ?? ''
  if (!people.has(accountId)) {
    await provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'nobody' })
    return
  }
  const grant = new provider.Grant({ accountId, clientId: CLIENT_ID })
  grant.addOIDCScope(String(params['scope']))
  const result = { login: { accountId }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result)
}

export async function identityProvider(scope: Scope): Promise<IdentityProvider> {
  const people: IdentityProvider['people'] = new Map()
  let answer: RequestListener = (_request, response) => response.writeHead(503).end()
  const server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
  scope.after(() => (server.closeAllConnections(), server.close()))
  await new Promise((resolve) => server.once('listening', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const keys = [{ ...(await exportJWK(privateKey)), kid: 'first', use: 'sig', alg: 'RS256' }]
  return {
    issuer,
    people,
    async admit(...urls) {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT_ID,
            client_secret: CLIENT_SECRET,
            redirect_uris: urls.map((url) => `${url}login/oidc/back/`),
            token_endpoint_auth_method: 'client_secret_post',
          },
        ],
        jwks: { keys },
        cookies: { keys: ['for tests'] },
        ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
        pkce: { required: () => true },
        claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
        findAccount: (_context, id) => {
          const person = people.get(id)
          return person && { accountId: id, claims: () => ({ sub: id, ...person }) }
        },
      })
      const own = provider.callback()
      answer = (request, response) => {
        if (!request.url?.startsWith('/interaction/')) return void own(request, response)
        interaction(provider, people, request, response).catch((error: unknown) =>
          response.writeHead(500).end(String(error)),
        )
      }
    },
  }
}
