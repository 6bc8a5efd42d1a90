/** Signing in by what a trusted proxy says (AV_FORWARDED_USER): who it names has an account of that name here. */
import { type Accounts, defineRoute, errors, type Proof, Type, tellSecurity } from 'archivolt'
import { refuseOtherSites, startSession } from './session-cookies.ts'

const accountOf = (name: string | undefined, accounts: Accounts) =>
  name === undefined ? undefined : accounts.list().find(({ username, is_active }) => is_active && username === name)

/** Names may be anything that a header holds: no more of it is shown. */
const LONGEST_NAME = 150

export const showForwarded = defineRoute({
  method: 'GET',
  path: '/api/forwarded/',
  access: 'open',
  summary: 'Who has signed in at the proxy in front, and whether there is such an account',
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
  summary: 'Start a session for whom the proxy in front names',
  body: Type.Object({}),
  bodyOptional: true,
  reply: Type.Null(),
  status: 204,
  errors: ['permission_denied', 'csrf_failed'],
  async handle({ request, headers }, { accounts, log, publicUrl }) {
    refuseOtherSites(request)
    // A browser says where its page is from (Origin), which has been looked at. Who does not must ask for us by name.
    const here = publicUrl()
    if (here !== undefined && request.headers['origin'] === undefined && !isHost(request.host, here))
      throw errors.crossSite()
    const { forwardedUser: name } = request
    const account = accountOf(name, accounts)
    if (!account)
      throw errors.permissionDenied(
        name === undefined
          ? 'No trusted proxy says who you are'
          : 'There is no account here of the name that the proxy gives you; an admin adds it',
      )
    const { id } = account
    const proof: Proof = { account, holds: () => accounts.get(id)?.is_active === true }
    await startSession(accounts, { proof, isRemembered: false, way: 'proxy' }, { request, headers })
    tellSecurity(log, 'sign_in', { account: id, address: request.address, at: 'proxy' })
    return undefined
  },
})

/** The port that goes without saying may be spelled out. */
const isHost = (host: string, url: string): boolean =>
  URL.canParse(`http://${host}`) && new URL(`${new URL(url).protocol}//${host}`).host === new URL(url).host
