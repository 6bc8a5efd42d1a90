/** Signs in the user whom a trusted proxy names (AV_FORWARDED_USER), if an account has that name. */
import { type Accounts, defineRoute, errors, type Proof, Type, tellSecurity } from 'archivolt'
import { refuseOtherSites, startSession } from './session-cookies.ts'

const accountOf = (name: string | undefined, accounts: Accounts) =>
  name === undefined ? undefined : accounts.list().find(({ username, is_active }) => is_active && username === name)

/** Maximum length of a name that is shown, because a header may contain anything. */
const LONGEST_NAME = 150

export const showForwarded = defineRoute({
  method: 'GET',
  path: '/api/forwarded/',
  access: 'open',
  summary: 'The username that the trusted proxy sends, and whether an account has this name',
  reply: Type.Object({ name: Type.Union([Type.String(), Type.Null()]), has_account: Type.Boolean() }),
  handle: ({ request: { forwardedUser: name } }, { accounts }) => ({
    name: name?.slice(0, LONGEST_NAME) ?? null,
    has_account: accountOf(name, accounts) !== undefined,
  }),
})

export const loginForwarded = defineRoute({
  method: 'POST',
  path: '/api/forwarded/',
  access: 'open',
  summary: 'Start a session for the user whom the trusted proxy names',
  body: Type.Object({}),
  bodyOptional: true,
  reply: Type.Null(),
  status: 204,
  errors: ['permission_denied', 'csrf_failed'],
  async handle({ request, headers }, { accounts, log, publicUrl }) {
    refuseOtherSites(request)
    // A browser sends the page's origin (`Origin`), which was checked before. Other clients must request a session
    // explicitly.
    const here = publicUrl()
    if (here !== undefined && request.headers['origin'] === undefined && !isHost(request.host, here))
      throw errors.crossSite()
    const { forwardedUser: name } = request
    const account = accountOf(name, accounts)
    if (!account)
      throw errors.permissionDenied(
        name === undefined
          ? 'No trusted proxy has sent a username'
          : 'There is no account with the name that the proxy sends; an admin can add it',
      )
    const { id } = account
    const proof: Proof = { account, holds: () => accounts.get(id)?.is_active === true }
    await startSession(accounts, { proof, isRemembered: false, way: 'proxy' }, { request, headers })
    tellSecurity(log, 'sign_in', { account: id, address: request.address, at: 'proxy' })
    return undefined
  },
})

/** `Host` may contain the default port. */
const isHost = (host: string, url: string): boolean =>
  URL.canParse(`http://${host}`) && new URL(`${new URL(url).protocol}//${host}`).host === new URL(url).host
