/** What is done with pasted links: downloaded, queued, subscribed to. The server takes each as it was pasted. */
import { Failure, post } from '../server/api.ts'
import type { Begun, Take } from '../server/records.ts'
import { taskOver } from '../stores/jobs.ts'
import { forget } from '../stores/load.ts'
import type { Understood } from '../stores/understand.ts'
import { t } from '../texts/lookup.ts'
import { say, sayFailure } from './toast.tsx'

/** @throws Failure */
export async function download(understood: readonly Understood[], { isNow }: { isNow: boolean }): Promise<void> {
  await post(
    '/api/download/',
    { data: understood.map(({ word }) => ({ platform_id: word, status: 'pending' })) },
    { autostart: isNow },
  )
  say(isNow ? t('adding.downloading', { count: understood.length }) : t('adding.queued', { count: understood.length }))
}

/**
 * Channels, playlists, and the channels of videos: scanned at once, and what is taken is downloaded. Resolves when the
 * server has taken it on; how it ends is said then. @throws Failure
 */
export async function subscribe(understood: readonly Understood[], take: Take): Promise<void> {
  const playlists = understood.filter(({ target }) => target.type === 'playlist')
  const channels = understood.filter(({ target }) => target.type !== 'playlist')
  const begun: Begun[] = []
  if (channels.length > 0)
    begun.push(
      await post<Begun>('/api/channel/', {
        data: channels.map(({ word }) => ({ channel_id: word, channel_subscribed: true, take })),
      }),
    )
  if (playlists.length > 0)
    begun.push(
      await post<Begun>('/api/playlist/', {
        data: playlists.map(({ word }) => ({ playlist_id: word, playlist_subscribed: true, take })),
      }),
    )
  say(t('adding.subscribing', { count: understood.length }))
  void subscribed(begun).then(
    () => say(t(take === 'new' ? 'adding.subscribedNew' : 'adding.subscribed', { count: understood.length })),
    sayFailure,
  )
}

/**
 * Once the platform has been asked for all of them. @throws Failure  not all could be had: its sentence says which, and
 * why
 */
export async function subscribed(begun: readonly Begun[]): Promise<void> {
  const ids = begun.map(({ task_id }) => task_id).filter((id) => id !== null)
  const failed = (await Promise.all(ids.map(taskOver))).filter(({ status }) => status !== 'SUCCESS')
  forget('channel')
  forget('playlist')
  if (failed.length > 0)
    throw new Failure(422, {
      message: t('adding.failed', { reason: failed.map(({ result }) => result ?? t('adding.stopped')).join('; ') }),
    })
}
