/** Settings of the provider, all from the environment: people who can change them could give anybody access. */
import { type SettingDefinition, type Settings, Type } from 'archivolt'

const text = Type.Union([Type.String({ minLength: 1, maxLength: 1000 }), Type.Null()])
const names = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  description: 'a list of group names, such as family,friends',
})
const claim = Type.String({ minLength: 1, maxLength: 200 })

export const settings: Record<string, SettingDefinition> = {
  oidcIssuer: {
    env: 'AV_OIDC_ISSUER',
    schema: Type.Union([
      Type.String({ pattern: '^https?://[^\\s?#@]+$', description: 'a URL that starts with https://' }),
      Type.Null(),
    ]),
    default: null,
    meaning: 'issuer URL of an OpenID Connect provider with which people can sign in',
  },
  oidcClientId: {
    env: 'AV_OIDC_CLIENT_ID',
    schema: text,
    default: null,
    meaning: 'client id of this server at the provider',
  },
  oidcClientSecret: {
    env: 'AV_OIDC_CLIENT_SECRET',
    schema: text,
    default: null,
    secret: true,
    meaning: 'client secret from the provider; unset: a public client',
  },
  oidcName: {
    env: 'AV_OIDC_NAME',
    schema: Type.String({ minLength: 1, maxLength: 40 }),
    default: 'single sign-on',
    meaning: 'the name on the “Sign in with …” button',
  },
  oidcScopes: {
    env: 'AV_OIDC_SCOPES',
    schema: Type.String({ pattern: '^openid( [!-~]+)*$', description: 'words that begin with openid' }),
    default: 'openid profile email',
    meaning: 'requested scopes; some providers need `groups` as well',
  },
  oidcUsernameClaim: {
    env: 'AV_OIDC_USERNAME_CLAIM',
    schema: claim,
    default: 'preferred_username',
    meaning: 'claim with the name for a new account',
  },
  oidcGroupsClaim: {
    env: 'AV_OIDC_GROUPS_CLAIM',
    schema: claim,
    default: 'groups',
    meaning: 'claim with the list of groups',
  },
  oidcUsers: {
    env: 'AV_OIDC_USER_GROUPS',
    schema: names,
    default: [],
    meaning: 'groups whose members may sign in; none: everybody at the provider',
  },
  oidcDownloaders: {
    env: 'AV_OIDC_DOWNLOAD_GROUPS',
    schema: names,
    default: [],
    meaning: 'groups whose members may download, checked at each sign-in; none: admins decide here',
  },
  oidcAdmins: {
    env: 'AV_OIDC_ADMIN_GROUPS',
    schema: names,
    default: [],
    meaning: 'groups whose members are admins, checked at each sign-in; none: admins decide here',
  },
  oidcCreate: {
    env: 'AV_OIDC_CREATE',
    schema: Type.Boolean(),
    default: false,
    meaning: 'create an account at the first sign-in; otherwise people link their account in Settings → Account',
  },
}

/** @throws a sentence: a setting is missing or insecure */
export function checkSettings(given: Settings): void {
  const { oidcIssuer: issuer, oidcClientId: clientId, privateHosts } = given
  if (issuer === null) {
    if (clientId !== null || given.oidcClientSecret !== null || given.oidcCreate)
      throw new Error(
        'AV_OIDC_ISSUER is missing: set it to the provider’s address, or remove the other AV_OIDC_ settings',
      )
    return
  }
  if (clientId === null)
    throw new Error('AV_OIDC_CLIENT_ID is missing: the provider shows it where this server is registered')
  const { protocol, hostname } = new URL(issuer)
  if (protocol === 'http:' && !privateHosts.includes(hostname))
    throw new Error(
      `AV_OIDC_ISSUER: ${issuer} does not use https, so anybody on the network in between could sign in as anybody; use https, or add ${hostname} to AV_PRIVATE_HOSTS if it is in your own network`,
    )
}

declare module 'archivolt' {
  interface Settings {
    oidcIssuer: string | null
    oidcClientId: string | null
    oidcClientSecret: string | null
    oidcName: string
    oidcScopes: string
    oidcUsernameClaim: string
    oidcGroupsClaim: string
    oidcUsers: string[]
    oidcDownloaders: string[]
    oidcAdmins: string[]
    oidcCreate: boolean
  }
}
