/** Rules over HTTP (contract 9.27): accounts that may download read them; only admins write rules that remove. */
import { isDeepStrictEqual } from 'node:util'
import { type Actor, defineRemoval, defineRoute, errors, ID_PATTERN, ROW_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'
import type { Draft } from './rule-rows.ts'
import { ASKED, askedFor, Conditions, OUTCOMES, Quality, type Rule, Scope, SIDES } from './schema.ts'
import { openScopes } from './scopes.ts'

const Side = Type.Enum([...SIDES])
const Outcome = Type.Enum([...OUTCOMES.take, ...OUTCOMES.keep])
const given = {
  side: Side,
  scope: Scope,
  conditions: Conditions,
  outcome: Outcome,
  quality: Type.Optional(Quality),
  name: Type.Optional(Type.String({ maxLength: 200, pattern: '^[^\\p{C}]*$' })),
  is_on: Type.Optional(Type.Boolean()),
}
const RuleRecord = Type.Object({
  id: Type.Integer(),
  ...given,
  name: Type.String(),
  is_on: Type.Boolean(),
  setting: Type.Optional(
    Type.String({ description: 'the setting that the rule represents: `all`, or the id of a channel' }),
  ),
  is_own: Type.Boolean({ description: 'whether the caller may change the rule' }),
  scope_name: Type.String({
    description: 'name of its channel, playlist or group; empty: the rule applies to all videos, or `is_lost`',
  }),
  is_lost: Type.Optional(Type.Boolean({ description: 'whether its channel, playlist or group does not exist' })),
  asks: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'of a taking rule: conditions that can be decided only after a request to the platform, before the download',
    }),
  ),
  left_out: Type.Optional(
    Type.Integer({ description: 'of a taking rule: the number of listed videos that it leaves out' }),
  ),
})
const Params = Type.Object({ ruleId: Type.String({ pattern: ROW_PATTERN }) })
export const RuleDraft = Type.Object(given)

export const draftOf = ({
  is_on: isOn = true,
  name = '',
  ...draft
}: Omit<Draft, 'isOn' | 'name'> & { is_on?: boolean; name?: string }): Draft => ({ ...draft, name, isOn })

export const listRules = defineRoute({
  method: 'GET',
  path: '/api/rule/',
  access: 'downloader',
  summary: 'Taking and keeping rules, in the order in which they are applied',
  query: {
    channel: Type.Optional(
      Type.String({ pattern: ID_PATTERN, description: 'only rules for this channel, or for a group that contains it' }),
    ),
  },
  reply: Type.Object({
    take: Type.Array(RuleRecord),
    keep: Type.Array(RuleRecord),
    asked: Type.Array(Type.String(), {
      description:
        'conditions of taking rules that can be decided only after a request to the platform, before the download',
    }),
    members_only: Type.Integer({
      description: 'number of listed videos that no rule leaves out, but that are only for members',
    }),
  }),
  async handle({ actor, query: { channel } }, app: App) {
    const { channelsOf } = openScopes(app.groups)
    const isAsked = ({ scope }: Rule) => channel === undefined || channelsOf(scope)?.includes(channel)
    const [take, keep] = [
      await records(app.rules.list('take').filter(isAsked), actor, app),
      await records(app.rules.list('keep').filter(isAsked), actor, app),
    ]
    return { take, keep, asked: [...ASKED], members_only: app.taking.leftOut().get(0) ?? 0 }
  },
})

export const addRule = defineRoute({
  method: 'POST',
  path: '/api/rule/',
  access: 'downloader',
  summary: 'Add a rule, at the end of its side or before another one',
  body: Type.Object({ ...given, before: Type.Optional(Type.Integer({ minimum: 1 })) }),
  reply: RuleRecord,
  errors: ['bad_request', 'permission_denied', 'conflict'],
  async handle({ body: { before, ...body }, actor }, app: App) {
    const draft = draftOf(body)
    await mustBeAllowed(actor, draft, app)
    if (before !== undefined && !actor.isAdmin)
      throw errors.permissionDenied('Only an admin may change the order of rules')
    await mustExist(draft.scope, app)
    return record(await app.rules.add(draft, { account: actor.id, before }), actor, app)
  },
})

export const changeRule = defineRoute({
  method: 'POST',
  path: '/api/rule/:ruleId/',
  access: 'downloader',
  summary: 'Change a rule, or switch it on or off',
  params: Params,
  body: Type.Partial(Type.Omit(Type.Object(given), ['side'])),
  reply: RuleRecord,
  errors: ['bad_request', 'permission_denied', 'conflict'],
  async handle({ params: { ruleId }, body: { is_on, ...body }, actor }, app: App) {
    const rule = await ownRule(Number(ruleId), actor, app)
    if (rule.setting !== undefined && Object.keys(body).some((key) => key !== 'name'))
      throw errors.conflict('This rule comes from a setting: change “Delete watched videos after” instead')
    await mustBeAllowed(actor, { ...rule, ...body }, app)
    // A rule whose channel or playlist is gone can still be changed otherwise.
    if (body.scope && !isDeepStrictEqual(body.scope, rule.scope)) await mustExist(body.scope, app)
    const isThere = await app.rules.change(rule.id, { ...body, ...(is_on !== undefined && { isOn: is_on }) })
    const changed = isThere ? app.rules.get(rule.id) : undefined
    if (!changed) throw errors.notFound('rule')
    return record(changed, actor, app)
  },
})

export const removeRule = defineRemoval({
  path: '/api/rule/:ruleId/',
  access: 'downloader',
  summary: 'Remove a rule; if it represents a setting, that setting is reset',
  errors: ['permission_denied'],
  async remove(ruleId, app: App, actor) {
    const { id, setting } = await ownRule(ruleId, actor, app)
    if (setting !== undefined) await app.settingRules.takeBack(setting)
    await app.rules.remove(id)
  },
})

export const orderRules = defineRoute({
  method: 'POST',
  path: '/api/rule/order/',
  access: 'admin',
  summary: 'Change the order of the taking rules or of the keeping rules',
  body: Type.Object({ side: Side, order: Type.Array(Type.Integer(), { maxItems: 10_000, uniqueItems: true }) }),
  reply: Type.Object({ order: Type.Array(Type.Integer()) }),
  errors: ['bad_request'],
  async handle({ body: { side, order } }, app: App) {
    await app.rules.order(side, order)
    return { order: app.rules.list(side).map(({ id }) => id) }
  },
})

/**
 * Accounts that may download write taking rules for subscribed channels and playlists; only admins write all others.
 */
async function mustBeAllowed(actor: Actor, { side, scope }: Pick<Draft, 'side' | 'scope'>, app: App): Promise<void> {
  if (actor.isAdmin) return
  if (side !== 'take') throw errors.permissionDenied('Only an admin may write keeping rules')
  const isSubscribed =
    (scope.kind === 'channel' && (await app.channels.get(scope.id))?.channel_subscribed) ||
    (scope.kind === 'playlist' && (await app.playlists.get(scope.id))?.playlist_subscribed)
  if (!isSubscribed)
    throw errors.permissionDenied(
      'You may write rules for subscribed channels and playlists; only an admin may write others',
    )
}

async function ownRule(id: number, actor: Actor, app: App): Promise<Rule> {
  const rule = app.rules.get(id)
  if (!rule) throw errors.notFound('rule')
  if (!actor.isAdmin && rule.account !== actor.id)
    throw errors.permissionDenied('Only an admin may change rules of others')
  return rule
}

/** undefined: the channel or playlist is not in the archive. */
async function nameOf(scope: Scope, app: App): Promise<string | undefined> {
  if (scope.kind === 'all') return ''
  if (scope.kind === 'group') return app.groups.get(scope.id)?.name
  if (scope.kind === 'channel') return (await app.channels.get(scope.id))?.channel_name
  return (await app.playlists.get(scope.id))?.playlist_name
}

/** Checks that a new rule's channel or playlist exists; the rule stays when it is removed later. @throws bad_request */
async function mustExist(scope: Scope, app: App): Promise<void> {
  if ((await nameOf(scope, app)) === undefined)
    throw errors.wrongField('scope.id', 'is not a channel, playlist or group in this archive')
}

const records = async (rules: readonly Rule[], actor: Actor, app: App) => {
  const leftOut = app.taking.leftOut()
  return Promise.all(rules.map((rule) => record(rule, actor, app, leftOut)))
}

async function record(
  { isOn, account, ...rule }: Rule,
  actor: Actor,
  app: App,
  leftOut: ReadonlyMap<number, number> = new Map(),
) {
  const name = await nameOf(rule.scope, app)
  return {
    ...rule,
    is_on: isOn,
    is_own: actor.isAdmin || account === actor.id,
    scope_name: name ?? '',
    ...(name === undefined && { is_lost: true }),
    ...(rule.side === 'take' && { asks: askedFor(rule.conditions), left_out: leftOut.get(rule.id) ?? 0 }),
  }
}
