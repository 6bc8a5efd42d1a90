/**
 * The provider: makes the address for a browser, and reads the identity from the answer, verified by `openid-client`.
 */
import type { Configuration, CustomFetch } from 'openid-client'
import type { App } from './app.ts'

/** The provider's data about a person. The subject never changes, and is never reused. */
export interface Identity {
  subject: string
  name: string | undefined
  groups: readonly string[]
}

/** The secrets of a pending sign-in. */
export interface Secrets {
  state: string
  nonce: string
  verifier: string
}

export interface Provider {
  /**
   * The provider's address for this browser, with the secrets to verify the answer. @throws any error that prevents it
   */
  begin(redirectUri: string): Promise<{ url: string } & Secrets>
  /** @param answered  the address to which the browser was redirected. @throws the fault of the answer */
  finish(answered: URL, secrets: Secrets): Promise<Identity>
}

/** How long the provider's addresses and keys are cached. */
const CACHED_MS = 60 * 60 * 1000
/** How long a failure is cached: anybody can request the address, and each request would ask the provider. */
const FAILED_CACHED_MS = 5000
const WITHIN_SECONDS = 10
const MAX_BYTES = 1_000_000
const MOST_GROUPS = 1000
const LONGEST_NAME = 200

/** @param settings  contain an issuer and a client id */
export function openProvider({ settings, fetch, clock }: Pick<App, 'settings' | 'fetch' | 'clock'>): Provider {
  const issuer = new URL(settings.oidcIssuer!)
  /** `untilMs`: by the steady clock. */
  let known: { config: Promise<Configuration>; untilMs: number } | undefined

  /** Sends requests with the limits of all external requests; redirects are refused. */
  const ask: CustomFetch = async (url, { method, headers, body, signal }) =>
    fetch(url, {
      ...{ method: method as 'GET' | 'POST', redirect: 'manual', withinSeconds: WITHIN_SECONDS, maxBytes: MAX_BYTES },
      headers: Object.fromEntries(new Headers(headers as Record<string, string>)),
      ...(body && { body: String(body) }),
      ...(signal && { signal }),
    })

  async function discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const secret = settings.oidcClientSecret
    return client.discovery(
      issuer,
      settings.oidcClientId!,
      undefined,
      secret === null ? client.None() : client.ClientSecretPost(secret),
      {
        [client.customFetch]: ask,
        // `checkSettings` requires https, except in a private network.
        execute: [
          client.enableNonRepudiationChecks,
          ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
        ],
      },
    )
  }

  function configuration(): Promise<Configuration> {
    if (known && known.untilMs > clock.steady()) return known.config
    const made = { config: discover(), untilMs: clock.steady() + CACHED_MS }
    made.config.catch(() => {
      made.untilMs = clock.steady() + FAILED_CACHED_MS
    })
    known = made
    return made.config
  }

  return {
    async begin(redirectUri) {
      const config = await configuration()
      const client = await import('openid-client')
      const secrets = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const { href: url } = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.oidcScopes,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
        ...{ state: secrets.state, nonce: secrets.nonce },
      })
      return { url, ...secrets }
    },

    async finish(answered, { state, nonce, verifier }) {
      const config = await configuration()
      const client = await import('openid-client')
      const tokens = await client.authorizationCodeGrant(config, answered, {
        ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      })
      const told: Record<string, unknown> = { ...tokens.claims()! }
      const subject = told['sub'] as string
      const isComplete = [settings.oidcUsernameClaim, settings.oidcGroupsClaim].every((name) => name in told)
      if (!isComplete && config.serverMetadata().userinfo_endpoint !== undefined)
        Object.assign(told, await client.fetchUserInfo(config, tokens.access_token, subject), { sub: subject })
      return {
        subject,
        name: textIn(told[settings.oidcUsernameClaim]),
        groups: groupsIn(told[settings.oidcGroupsClaim]),
      }
    },
  }
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME ? value : undefined

const groupsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value])
    .slice(0, MOST_GROUPS)
    .filter((one): one is string => typeof one === 'string' && one.length <= LONGEST_NAME)
