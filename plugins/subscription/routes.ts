/** Subscribes and unsubscribes over HTTP (contract 6.6, 6.7, 9.4). All elements are checked before anything changes. */
import { defineRoute, errors, ID_PATTERN, isAppError, type Static, say, Type, type Words } from 'archivolt'
import type { Target } from '../platform/types.ts'
import type { App } from './app.ts'
import { beginAsBefore, forgetBeginning, Take } from './beginning.ts'
import { subscribeTo } from './subscribe.ts'
import { Wishes } from './wishes.ts'
import { withdraw } from './withdrawals.ts'

type Wanted = Target & { take?: Take | undefined; wishes?: Wishes | undefined }

const ID = new RegExp(ID_PATTERN)
const TaskId = Type.Union([Type.String(), Type.Null()])
const beginning = {
  take: Type.Optional(Take),
  wishes: Type.Optional(Wishes),
  as_before: Type.Optional(
    Type.Literal(true, { description: 'continues a subscription that ended within the last day; nothing is scanned' }),
  ),
}
type Beginning = Pick<Static<typeof Channels>[number], keyof typeof beginning>
const Channels = Type.Array(
  Type.Object({ channel_id: Type.String(), channel_subscribed: Type.Boolean(), ...beginning }),
)
const Playlists = Type.Array(
  Type.Object({ playlist_id: Type.String(), playlist_subscribed: Type.Boolean(), ...beginning }),
)

export const subscribeChannels = defineRoute({
  method: 'POST',
  path: '/api/channel/',
  access: 'admin',
  summary: 'Subscribe to channels, or end subscriptions',
  body: Type.Object({ data: Channels }),
  reply: Type.Object({ data: Channels, message: Type.String(), task_id: TaskId }),
  errors: ['bad_request', 'not_found', 'throttled', 'unavailable'],
  async handle({ body: { data }, actor, signal }, app: App) {
    const { wanted, unwanted, again, add } = openSorted()
    for (const [index, item] of data.entries())
      add(await channelTarget(item.channel_id, `data[${index}].channel_id`, app), item.channel_subscribed, item)
    for (const id of again) {
      await beginAsBefore(id, app)
      await app.channels.change(id, { channel_subscribed: true })
    }
    const ended = new Set<string>()
    for (const target of unwanted)
      ended.add(target.id).add((await channelOf(target, { account: actor.id, signal }, app)) ?? target.id)
    const known = await app.channels.known([...ended])
    for (const id of ended)
      await (known.has(id) ? app.channels.change(id, { channel_subscribed: false }) : withdraw(id, app))
    return { data, ...(await start(wanted, app)) }
  },
})

export const subscribePlaylists = defineRoute({
  method: 'POST',
  path: '/api/playlist/',
  access: 'admin',
  summary: 'Subscribe to playlists, or end subscriptions',
  body: Type.Object({ data: Playlists }),
  reply: Type.Object({ data: Playlists, message: Type.String(), task_id: TaskId }),
  errors: ['bad_request', 'not_found'],
  async handle({ body: { data } }, app: App) {
    const { wanted, unwanted, again, add } = openSorted()
    for (const [index, item] of data.entries())
      add(await playlistTarget(item.playlist_id, `data[${index}].playlist_id`, app), item.playlist_subscribed, item)
    for (const id of again) {
      await beginAsBefore(id, app)
      if (!(await app.playlists.setSubscribed(id, true))) throw errors.notFound('playlist', id)
    }
    for (const { id } of unwanted) {
      await app.playlists.setSubscribed(id, false)
      await forgetBeginning(id, app)
    }
    return { data, ...(await start(wanted, app)) }
  },
})

/** The elements of a request by what they ask for; `again`: continue an ended subscription. */
function openSorted() {
  const [wanted, unwanted, again]: [Wanted[], Target[], string[]] = [[], [], []]
  function add(target: Target, isWanted: boolean, { take, wishes, as_before }: Beginning): void {
    if (!isWanted) unwanted.push(target)
    else if (as_before) again.push(target.id)
    else wanted.push({ ...target, take, wishes })
  }
  return { wanted, unwanted, again, add }
}

async function start(targets: readonly Wanted[], app: App): Promise<{ message: string; task_id: string | null }> {
  if (targets.some(({ wishes }) => wishes) && app.hook('download.wishes').length === 0)
    throw errors.badRequest('Wishes need the plugin rules, which this server was started without')
  if (!targets.length) return { message: 'nothing to subscribe to', task_id: null }
  const job = await app.jobs.start(subscribeTo, {
    targets: targets.map(({ type, id, take, wishes }) => ({ type, id, take, wishes })),
  })
  return { message: 'subscribe task started', task_id: job.id }
}

/** Accepts a channel, or a video of the channel. @throws bad_request */
async function channelTarget(text: string, field: string, app: App): Promise<Target> {
  const word = text.trim()
  if (ID.test(word) && (await app.channels.known([word])).has(word)) return { type: 'channel', id: word }
  const rule = say`must be the id, handle or URL of a channel`
  const target = oneTarget(word, field, rule, app)
  if (target.type === 'playlist') throw errors.wrongField(field, rule)
  return target
}

/** @throws bad_request: not a playlist, or a custom one, which does not exist on the platform */
async function playlistTarget(text: string, field: string, app: App): Promise<Target> {
  const word = text.trim()
  const rule = say`must be the id or URL of a playlist on ${{ platform: app.platform.name }}`
  const target =
    ID.test(word) && (await app.playlists.has(word))
      ? ({ type: 'playlist', id: word } as const)
      : oneTarget(word, field, rule, app)
  if (target.type !== 'playlist') throw errors.wrongField(field, rule)
  const isCustom =
    (await app.playlists.get(target.id))?.playlist_type === 'custom' ||
    target.id.startsWith(`${app.settings.prefix}_playlist_`) ||
    target.id.startsWith('TA_playlist_')
  if (isCustom)
    throw errors.wrongField(field, say`is a custom playlist, which is not on ${{ platform: app.platform.name }}`)
  return target
}

function oneTarget(word: string, field: string, rule: Words, app: App): Target {
  try {
    const [target, ...others] = app.platform.targets(word)
    if (target && !others.length) return target
  } catch (error) {
    if (!isAppError(error, 'bad_request')) throw error
  }
  throw errors.wrongField(field, rule)
}

/**
 * The channel of an element; undefined: it is not in the archive. @throws unavailable, throttled: only the platform can
 * resolve the handle
 */
async function channelOf(
  target: Target,
  asked: { account: number; signal: AbortSignal },
  app: App,
): Promise<string | undefined> {
  if (target.type === 'video') return (await app.videos.get(target.id))?.channel_id
  const isHandle = target.type === 'channel' && target.isHandle
  return isHandle ? app.channels.resolve(target.id, { asker: 'unsubscribe', isUrgent: true, ...asked }) : target.id
}
