/** Actions for pasted links: download, queue, subscribe. The server receives each link as it was pasted. */
import { h } from 'preact'
import { Failure, post } from '../server/api.ts'
import type { Begun, Take, TaskRecord, Wishes } from '../server/records.ts'
import type { Understood } from '../stores/identify-links.ts'
import { taskOver } from '../stores/jobs.ts'
import { askHowMany, videosIn } from '../stores/link-preview.ts'
import { isMore } from '../stores/list.ts'
import { forget } from '../stores/load.ts'
import { isAdmin } from '../stores/session.ts'
import { type Count, inWords, t } from '../texts/lookup.ts'
import { confirm } from './dialog.tsx'
import { say, sayFailure } from './toast.ts'

/** Up to this many videos of a channel or playlist are downloaded without confirmation. */
const MOST_UNASKED = 50

export const isList = ({ target }: Understood): boolean => target.type !== 'video'

/** The emphasized action: people who may subscribe and paste a channel or playlist usually want to subscribe. */
export const mainAction = (understood: readonly Understood[]): 'download' | 'subscribe' =>
  isAdmin.value && understood.some(isList) ? 'subscribe' : 'download'

/** The label of the download button, with the number of videos if the links include a channel or playlist. */
export function downloadLabel(understood: readonly Understood[]): string {
  const count = understood.some(isList) ? videosIn(understood) : undefined
  return count === undefined ? t('paste.download') : t('adding.download', { count })
}

/** @param count  undefined: unknown */
const confirmMany = (count: Count | undefined): Promise<boolean> =>
  confirm({
    title: count === undefined ? t('channel.downloadAll.title') : t('adding.many', { count }),
    text: h('p', null, count === undefined ? t('adding.many.unknown') : t('adding.many.text')),
    action: count === undefined ? t('channel.downloadAll') : t('adding.download', { count }),
  })

let beforeAdding: (() => Promise<void>) | undefined

/**
 * Registers a callback that saves options which are shown but not saved yet; it is called before anything is added.
 * @returns a function that unregisters the callback
 */
export function saveBeforeAdding(save: () => Promise<void>): () => void {
  beforeAdding = save
  return () => {
    if (beforeAdding === save) beforeAdding = undefined
  }
}

/**
 * @returns false: the user has declined
 * @throws Failure
 */
export async function download(
  understood: readonly Understood[],
  { isNow }: { isNow: boolean },
): Promise<false | void> {
  if (understood.some(isList)) {
    const count = await askHowMany(understood)
    if ((count === undefined || isMore(count, MOST_UNASKED)) && !(await confirmMany(count))) return false
  }
  await beforeAdding?.()
  await post(
    '/api/download/',
    { data: understood.map(({ word }) => ({ platform_id: word, status: 'pending' })) },
    { autostart: isNow },
  )
  say(isNow ? t('adding.downloading', { count: understood.length }) : t('adding.queued', { count: understood.length }))
}

/**
 * Subscribes to channels, playlists, and the channels of videos: they are scanned at once, and new videos are
 * downloaded. Resolves when the server has accepted the request; the outcome is shown later.
 * @throws Failure
 */
export async function subscribe(
  understood: readonly Understood[],
  beginning: { take: Take; wishes?: Wishes | undefined },
): Promise<void> {
  await beforeAdding?.()
  const playlists = understood.filter(({ target }) => target.type === 'playlist')
  const channels = understood.filter(({ target }) => target.type !== 'playlist')
  const begun: Begun[] = []
  if (channels.length > 0)
    begun.push(
      await post<Begun>('/api/channel/', {
        data: channels.map(({ word }) => ({ channel_id: word, channel_subscribed: true, ...beginning })),
      }),
    )
  if (playlists.length > 0)
    begun.push(
      await post<Begun>('/api/playlist/', {
        data: playlists.map(({ word }) => ({ playlist_id: word, playlist_subscribed: true, ...beginning })),
      }),
    )
  say(t('adding.subscribing', { count: understood.length }))
  void subscribed(begun).then(
    () => say(t(beginning.take === 'new' ? 'adding.subscribedNew' : 'adding.subscribed', { count: understood.length })),
    sayFailure,
  )
}

const reasonOf = ({ result, said }: TaskRecord): string => (result ? inWords(result, said) : t('adding.stopped'))

/**
 * Resolves when the platform has been asked about all of them.
 * @throws Failure  some have failed; its sentence gives the reasons
 */
export async function subscribed(begun: readonly Begun[]): Promise<void> {
  const ids = begun.map(({ task_id }) => task_id).filter((id) => id !== null)
  const failed = (await Promise.all(ids.map(taskOver))).filter(({ status }) => status !== 'SUCCESS')
  forget('channel')
  forget('playlist')
  if (failed.length > 0)
    throw new Failure(422, {
      message: t('adding.failed', { reason: failed.map(reasonOf).join('; ') }),
    })
}
