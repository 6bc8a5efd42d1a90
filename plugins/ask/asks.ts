/** Stores asks in the ledger, and applies their answers: the account's view includes more, a video is downloaded. */
import {
  type Actor,
  actorOf,
  beyondView,
  epochSeconds,
  errors,
  isAppError,
  isHiding,
  type Job,
  kindIn,
  MOST_CHOSEN,
  openLocks,
  Rate,
  type Static,
  say,
  Type,
  type View,
} from 'archivolt'
import type { App } from './app.ts'
import { openAskNews } from './news.ts'
import type { Answer, Ask } from './tables.ts'

/** Maximum number of asks per account; the oldest answered ones are dropped. */
const MOST_STORED = 200
const MOST_WAITING = 20
const MOST_OFFERED = 8
const MOST_FOUND = 30
/** Limit of an account's look-ups at the platform; known videos are not requested again. */
const LOOK_UPS = { most: 20, withinMs: 3_600_000 }

/**
 * A video outside of the view. If it is in the archive, its picture is omitted, because nobody has approved it for this
 * account.
 */
export const Offer = Type.Object({
  video_id: Type.String(),
  title: Type.String(),
  channel_name: Type.String(),
  state: Type.Enum(['open', 'waiting', 'coming', 'failed', 'allowed', 'refused'], {
    description:
      'open: not requested yet, or no longer allowed; coming: allowed, but not in the archive yet; failed: allowed, but its download has failed, or it is no longer in the queue',
  }),
  picture: Type.Optional(
    Type.String({ description: 'only of a video that is not in the archive: a small JPEG as a data URL' }),
  ),
})
export type Offer = Static<typeof Offer>

export const OwnAsk = Type.Object({
  ...Offer.properties,
  is_new: Type.Boolean({ description: 'the account has not seen the answer yet' }),
})
export type OwnAsk = Static<typeof OwnAsk>

/** The parts of a video's record that an ask stores. */
interface Wanted {
  platform_id: string
  title: string
  channel: { channel_id: string; channel_name: string }
  picture?: string
}

export interface Asks {
  /**
   * Videos with these words in their title that the account does not see, or the video of the platform to which a link
   * leads; none unless admins permit asks.
   */
  offers(words: string, actor: Actor, signal?: AbortSignal): Promise<Offer[]>
  /**
   * Asks for a video, once. @throws not_found: asks are switched off, or there is no such video; conflict: the account
   * already sees it; throttled
   */
  ask(videoId: string, actor: Actor, signal?: AbortSignal): Promise<Offer>
  /** The account's asks, the newest first. */
  own(userId: number): Promise<OwnAsk[]>
  /** Marks all answers to the account as seen. */
  see(userId: number): Promise<void>
  /** Asks without an answer, the oldest first. */
  waiting(): Promise<Array<Ask & { is_away: boolean }>>
  /** @throws not_found; conflict: it was already answered, or the view is full */
  answer(id: number, answer: Answer, admin: Actor): Promise<void>
  /** Shows accounts the videos that were allowed and have arrived in the archive since. */
  showArrived(): Promise<void>
  /** Restores the messages about waiting asks, which are lost at each restart. */
  begin(): Promise<void>
}

export function openAsks(app: Omit<App, 'asks'>): Asks {
  const { ledger, accounts, clock, videos, playlists } = app
  const selectWaiting = ledger.sql<Ask>('SELECT * FROM ask_video WHERE answer IS NULL ORDER BY id')
  const selectOwn = ledger.sql<Ask>('SELECT * FROM ask_video WHERE user_id = ? ORDER BY id DESC')
  const selectOne = ledger.sql<Ask>('SELECT * FROM ask_video WHERE id = ? AND answer IS NULL')
  const selectOf = ledger.sql<Ask>('SELECT * FROM ask_video WHERE user_id = ? AND video_id = ?')
  const countOf = ledger.sql<{ waiting: number }>(
    'SELECT count(*) AS waiting FROM ask_video WHERE user_id = ? AND answer IS NULL',
  )
  const selectDue = ledger.sql<Ask>('SELECT * FROM ask_video WHERE is_due = 1 ORDER BY id')
  const insert = ledger.sql(
    'INSERT INTO ask_video (user_id, video_id, title, channel_id, channel_name, asked_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const deleteOld = ledger.sql(
    'DELETE FROM ask_video WHERE id IN (SELECT id FROM ask_video WHERE user_id = ? AND answer IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)',
  )
  const deleteOne = ledger.sql('DELETE FROM ask_video WHERE id = ?')
  const setAnswer = ledger.sql(
    'UPDATE ask_video SET answer = ?, is_due = ?, is_seen = 0 WHERE id = ? AND answer IS NULL',
  )
  const setShown = ledger.sql('UPDATE ask_video SET is_due = 0, is_seen = 0 WHERE id = ?')
  const setSeen = ledger.sql('UPDATE ask_video SET is_seen = 1 WHERE user_id = ? AND answer IS NOT NULL')
  const selectList = ledger.sql<{ playlist_id: string }>('SELECT playlist_id FROM ask_playlist WHERE user_id = ?')
  const upsertList = ledger.sql(
    'INSERT INTO ask_playlist (user_id, playlist_id) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET playlist_id = excluded.playlist_id',
  )

  const lookUps = new Rate(clock, LOOK_UPS)
  /**
   * Locks by account, because each answer starts from the view and the playlist as the previous answer has changed
   * them.
   */
  const locks = openLocks()
  const news = openAskNews(app)
  const isWaiting = (id: number) => selectOne.get(id) !== undefined

  /** @throws not_found: there is no such ask, or it was answered */
  function waitingAsk(id: number): Ask {
    const ask = selectOne.get(id)
    if (!ask) throw errors.notFound('ask')
    return ask
  }

  const archived = (ids: string[]) => beyondView(() => videos.known(ids))

  const mayAsk = ({ view }: Actor) => view !== undefined && app.preferences.section('asks').in_search

  async function recordsOf(hits: Array<{ id: string; text: string }>, actor: Actor): Promise<Wanted[]> {
    return (await beyondView(() => videos.records(hits, actor))).map((text) => JSON.parse(text) as Wanted)
  }

  function isQueued(id: string): boolean {
    const item = app.queue.get(id)
    return item !== undefined && item.status !== 'ignore' && !app.queue.hasFailed(item)
  }

  /** Of these asks, the videos that are allowed and can still be expected to be shown. */
  async function comingAmong(asks: ReadonlyArray<Ask | undefined>): Promise<Set<string>> {
    const due = asks.flatMap((ask) => (ask?.is_due ? [ask.video_id] : []))
    if (due.length === 0) return new Set()
    const adding = new Set(app.jobs.open('extract_download').flatMap(targetsOf))
    // The queue first: a video leaves it once it is in the archive.
    const coming = due.filter((id) => adding.has(id) || isQueued(id))
    return new Set([...coming, ...(await archived(due))])
  }

  async function offersOf(all: readonly Wanted[], userId: number): Promise<Offer[]> {
    const asks = all.map(({ platform_id: id }) => selectOf.get(userId, id))
    const coming = await comingAmong(asks)
    return all.map(({ platform_id, title, channel, picture }, at) => {
      const state = stateOf(asks[at], coming)
      return {
        video_id: platform_id,
        title,
        channel_name: channel.channel_name,
        // Allowed once, and hidden again or failed since: the video may be requested again.
        state: state === 'allowed' || state === 'failed' ? 'open' : state,
        ...(picture !== undefined && { picture }),
      }
    })
  }

  /** The video that a link or an id refers to. */
  function videoIn(word: string): string | undefined {
    const [target] = app.platform.targetsIn(word)
    return target?.type === 'video' ? target.id : undefined
  }

  /** The video that the text as a whole refers to. An ordinary word of letters does not count as an id. */
  function named(words: string): string | undefined {
    const [word = '', ...others] = words.trim().split(/\s+/)
    return others.length > 0 || /^[a-z]*$/i.test(word) ? undefined : videoIn(word)
  }

  /**
   * The platform's data about a video, or only its id if the platform may not be asked now; undefined: it has no such
   * video.
   */
  async function wantedOf(videoId: string, actor: Actor, signal?: AbortSignal): Promise<Wanted | undefined> {
    const unknown = { platform_id: videoId, title: videoId, channel: { channel_id: '', channel_name: '' } }
    if (!lookUps.take(String(actor.id))) return unknown
    try {
      const asked = { asker: 'ask', account: actor.id, isUrgent: true, ...(signal && { signal }) }
      const { title, channelName, picture } = await app.linkPreviews.of({ type: 'video', id: videoId }, asked)
      return {
        ...{ platform_id: videoId, title, channel: { channel_id: '', channel_name: channelName ?? '' } },
        ...(picture && { picture: `data:image/jpeg;base64,${picture.toString('base64')}` }),
      }
    } catch (thrown) {
      if (isAppError(thrown, 'unprocessable')) return undefined
      if (isAppError(thrown, 'throttled') || isAppError(thrown, 'unavailable')) return unknown
      throw thrown
    }
  }

  /** The playlist with the account's allowed videos; created if it does not exist. */
  async function listOf(userId: number, admin: Actor): Promise<string> {
    const known = selectList.get(userId)?.playlist_id
    if (known !== undefined && (await playlists.has(known))) return known
    const name = `★ ${accounts.get(userId)!.username}`
    const id = await playlists.create(name, 'shared', admin)
    await ledger.write(() => upsertList.run(userId, id))
    return id
  }

  async function showMore(userId: number, kind: 'channel' | 'playlist', id: string): Promise<void> {
    const view = accounts.get(userId)?.view
    // The account sees everything by now.
    if (!view) return
    const hidden = isHiding(view) ? (view[kindIn(view, kind)] ?? []) : []
    await changeView(userId, {
      ...view,
      ...(hidden.includes(id) && { [kindIn(view, kind)]: hidden.filter((one) => one !== id) }),
      [kind]: widened(view[kind] ?? [], id),
    })
  }

  async function changeView(userId: number, view: View): Promise<void> {
    await accounts.change(userId, { view })
    await app.emit('view.changed', {})
  }

  async function allowVideo({ user_id, video_id }: Ask, admin: Actor): Promise<void> {
    if (!accounts.get(user_id)?.view) return
    const list = await listOf(user_id, admin)
    await playlists.act(list, { action: 'create', videoId: video_id }, admin)
    await showMore(user_id, 'playlist', list)
  }

  /** Downloads a video, including one that is already queued: ignored, failed, or behind others. */
  async function download(videoId: string, admin: Actor): Promise<void> {
    if (await app.queue.setStatus(videoId, 'priority')) {
      await app.jobs.start('download_pending', { autoOnly: true })
      return
    }
    const targets = [{ type: 'video', id: videoId }]
    await app.jobs.start('extract_download', { targets, autoStart: true, userId: admin.id })
  }

  /** Extends the view by what an answer allows, for a video that is in the archive. */
  async function show(ask: Ask, answer: Answer, admin: Actor): Promise<void> {
    if (answer === 'video') await allowVideo(ask, admin)
    if (answer !== 'channel') return
    const channel = ask.channel_id || (await videos.get(ask.video_id))?.channel_id
    if (channel) await showMore(ask.user_id, 'channel', channel)
  }

  return {
    async offers(words, actor, signal) {
      if (!mayAsk(actor)) return []
      const id = named(words)
      if (id !== undefined && !(await archived([id])).has(id)) {
        const ask = selectOf.get(actor.id, id)
        const known = ask && { platform_id: id, title: ask.title, channel: ask }
        const wanted = known ?? (await wantedOf(id, actor, signal))
        return offersOf(wanted ? [wanted] : [], actor.id)
      }
      const text = { words, fields: { title: 1 }, match: 'all' as const, prefixLast: true }
      const query = id === undefined ? { text } : { ids: [id] }
      const { hits } = await beyondView(() =>
        videos.collection.find({ ...query, size: MOST_FOUND, withoutTotal: true }),
      )
      const seen = await videos.known(hits.map(({ id }) => id))
      const hidden = hits.filter(({ id }) => !seen.has(id)).slice(0, MOST_OFFERED)
      return offersOf(await recordsOf(hidden, actor), actor.id)
    },

    async ask(videoId, actor, signal) {
      if (!mayAsk(actor)) throw errors.notFound('video', videoId)
      if (await videos.has(videoId)) throw errors.conflict('This account may already watch the video')
      const text = await beyondView(() => videos.collection.getText(videoId))
      const before = selectOf.get(actor.id, videoId)
      if (text === undefined && before) {
        const known = { platform_id: videoId, title: before.title, channel: before }
        const [offer] = await offersOf([known], actor.id)
        if (offer!.state !== 'open') return offer!
      }
      const [wanted] =
        text !== undefined
          ? await recordsOf([{ id: videoId, text }], actor)
          : videoIn(videoId) === videoId
            ? [await wantedOf(videoId, actor, signal)]
            : []
      if (!wanted) throw errors.notFound('video', videoId)
      const { channel_id, channel_name } = wanted.channel
      const isNew = await ledger.write(() => {
        const before = selectOf.get(actor.id, videoId)
        if (isSettled(before)) return false
        if (before) deleteOne.run(before.id)
        if (countOf.get(actor.id)!.waiting >= MOST_WAITING)
          throw errors.throttled('Wait until your earlier requests have been answered', { retryAfterSeconds: 3600 })
        insert.run(actor.id, videoId, wanted.title, channel_id, channel_name, epochSeconds(clock))
        deleteOld.run(actor.id, MOST_STORED)
        return true
      })
      const ask = selectOf.get(actor.id, videoId)!
      if (isNew) await news.asked(ask, isWaiting)
      const [offer] = await offersOf([wanted], actor.id)
      return offer!
    },

    async own(userId) {
      const asks = selectOwn.all(userId)
      const coming = await comingAmong(asks)
      const seen = await videos.known(asks.map(({ video_id }) => video_id))
      return asks.map((ask) => {
        const answered = stateOf(ask, coming)
        // It was removed, or hidden again.
        const state = answered === 'allowed' && !seen.has(ask.video_id) ? 'open' : answered
        return {
          ...{ video_id: ask.video_id, title: ask.title, channel_name: ask.channel_name, state },
          is_new: ask.answer !== null && ask.is_seen === 0 && state !== 'open',
        }
      })
    },

    see: (userId) => ledger.write(() => void setSeen.run(userId)),

    async waiting() {
      const asks = selectWaiting.all()
      const there = await archived(asks.map(({ video_id }) => video_id))
      return asks.map((ask) => ({ ...ask, is_away: !there.has(ask.video_id) }))
    },

    async answer(id, answer, admin) {
      await locks.exclusive(String(waitingAsk(id).user_id), async () => {
        const ask = waitingAsk(id)
        const isDue = answer !== 'no' && !(await videos.has(ask.video_id))
        if (isDue) await download(ask.video_id, admin)
        else await show(ask, answer, admin)
        await ledger.write(() => setAnswer.run(answer, isDue ? 1 : 0, id))
        await news.answered(ask, answer, admin)
        // The video may have arrived before the answer was stored.
        if (isDue) await app.jobs.start(SHOW_ARRIVED)
      })
    },

    async showArrived() {
      const due = selectDue.all()
      const there = await videos.known(due.map(({ video_id }) => video_id))
      const admin = accounts.firstAdmin()
      if (!admin) return
      for (const ask of due.filter(({ video_id }) => there.has(video_id))) {
        try {
          await locks.exclusive(String(ask.user_id), () => show(ask, ask.answer!, actorOf(admin)))
          await ledger.write(() => setShown.run(ask.id))
        } catch (err) {
          // If the view of one account is full, the others must still be processed.
          if (!isAppError(err, 'conflict')) throw err
          app.log.warn({ err, ask: ask.id }, 'a video that was allowed could not be shown')
        }
      }
    },

    async begin() {
      for (const ask of selectWaiting.all()) await news.show(ask, isWaiting)
      if (selectDue.get()) await app.jobs.start(SHOW_ARRIVED)
    },
  }
}

export const SHOW_ARRIVED = 'ask.show'

const targetsOf = ({ payload }: Job): string[] => (payload['targets'] as Array<{ id: string }>).map(({ id }) => id)

/** Whether the ask waits for an answer, or was refused. */
const isSettled = (ask: Ask | undefined): boolean => ask?.answer === null || ask?.answer === 'no'

function stateOf(ask: Ask | undefined, coming: ReadonlySet<string>): Offer['state'] {
  if (!ask) return 'open'
  if (ask.answer === null) return 'waiting'
  if (ask.answer === 'no') return 'refused'
  if (!ask.is_due) return 'allowed'
  return coming.has(ask.video_id) ? 'coming' : 'failed'
}

/** @throws conflict */
function widened(ids: readonly string[], id: string): string[] {
  if (ids.includes(id)) return [...ids]
  if (ids.length >= MOST_CHOSEN)
    throw errors.conflict(say`A view can contain at most ${{ count: MOST_CHOSEN }} entries of each kind`)
  return [...ids, id]
}
