/** Everything that a client needs to know about the caller, in one reply. */
import { type Actor, type App, DAY_MS, defineRoute, type Static, Type } from 'archivolt'
import { Moment } from './access-token-routes.ts'
import { Account } from './account-routes.ts'
import { Password, proofOfPassword } from './current-password.ts'
import { NewSignIn } from './own-session-routes.ts'
import { OwnPreferences } from './user-preferences.ts'

const Attention = Type.Object({
  access_tokens: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String(), expires: Moment })),
  failed_tasks: Type.Array(Type.String()),
  sign_ins: Type.Array(NewSignIn),
})

/** A group of channels and playlists, as the page shows it. */
const NamedGroup = Type.Object({ id: Type.Integer(), name: Type.String(), color: Type.String() })

declare module 'archivolt' {
  interface Hooks {
    /** Asked with each session: the groups that every account without a view can choose, in order. */
    'session.groups': () => ReadonlyArray<Static<typeof NamedGroup>>
    /**
     * Asked with each session: shelves of Home that have content for this account, so that the page requests no others.
     */
    'session.shelves': (actor: Actor) => readonly string[] | Promise<readonly string[]>
    /** Asked with each session: which community contributions are enabled here (`titles`, `segments`). */
    'session.community': () => readonly string[] | Promise<readonly string[]>
  }
}

/** How long before its expiry a token is announced, so that there is time to renew it. */
const TOLD_BEFORE_MS = 7 * DAY_MS

/** Notices that need an action of this account. As everywhere, access tokens cannot see other access tokens. */
function attentionOf(
  { id, isAdmin, scope, session }: Actor,
  { accounts, clock, schedules }: App,
): Static<typeof Attention> {
  const until = clock.now() + TOLD_BEFORE_MS
  const own = scope === undefined ? accounts.accessTokens(id) : []
  const failed = isAdmin ? schedules.list().filter(({ last_status }) => last_status === 'FAILURE') : []
  return {
    access_tokens: own.flatMap(({ id, name, expires }) =>
      expires !== null && Date.parse(expires) <= until ? [{ id, name, expires }] : [],
    ),
    failed_tasks: failed.map(({ name }) => name),
    sign_ins: scope === undefined ? accounts.newSignIns(id, session) : [],
  }
}

const groupsOf = ({ view }: Actor, { hook }: App): Array<Static<typeof NamedGroup>> =>
  view ? [] : hook('session.groups').flatMap((ask) => ask())

export const showSession = defineRoute({
  method: 'GET',
  path: '/api/session/',
  access: 'viewer',
  summary: 'The calling account with its preferences and notices, and the version of the server',
  reply: Type.Object({
    version: Type.String(),
    account: Account,
    preferences: OwnPreferences,
    attention: Attention,
    groups: Type.Array(NamedGroup, { description: 'empty for an account with a view' }),
    shelves: Type.Array(Type.String(), { description: 'shelves of Home that have content' }),
    community: Type.Array(Type.String(), {
      description: 'enabled community contributions: `titles` (9.40), `segments` (5.9)',
    }),
    needs_second_factor: Type.Boolean({
      description: 'whether the caller is an admin who can only watch until they set up an authenticator app',
    }),
  }),
  handle: async ({ actor }, app) => ({
    version: `v${app.version}`,
    account: app.accounts.get(actor.id)!,
    preferences: { ...app.accounts.userPreferences(actor.id), user_id: actor.id },
    attention: attentionOf(actor, app),
    groups: groupsOf(actor, app),
    shelves: (await Promise.all(app.hook('session.shelves').map((ask) => ask(actor)))).flat(),
    community: (await Promise.all(app.hook('session.community').map((ask) => ask()))).flat(),
    needs_second_factor: actor.needsSecondFactor === true,
  }),
})

export const proveSession = defineRoute({
  method: 'POST',
  path: '/api/session/',
  access: 'viewer',
  scope: 'none',
  summary: 'Confirm the password: for 15 minutes, this session may make changes that require a recent confirmation',
  body: Type.Object({ current_password: Password }),
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['throttled'],
  async handle(input, { accounts }) {
    const proof = await proofOfPassword(accounts, input)
    const { session } = input.actor
    if (session !== undefined) accounts.proveSession(session, proof)
    return { success: true as const }
  },
})
