/** What is done with pasted links: downloaded, queued, subscribed to. The server takes each as it was pasted. */
import { post } from './api.ts'
import { forget } from './load.ts'
import { say } from './parts/toast.tsx'
import { t } from './texts.ts'
import type { Understood } from './understand.ts'

/** @throws Failure */
export async function download(understood: readonly Understood[], { isNow }: { isNow: boolean }): Promise<void> {
  await post('/api/download/', { data: understood.map(({ word }) => ({ platform_id: word, status: 'pending' })) }, { autostart: isNow })
  say(isNow ? t('adding.downloading', { count: understood.length }) : t('adding.queued', { count: understood.length }))
}

/** Channels, playlists, and the channels of videos. @throws Failure */
export async function subscribe(understood: readonly Understood[]): Promise<void> {
  const playlists = understood.filter(({ target }) => target.type === 'playlist')
  const channels = understood.filter(({ target }) => target.type !== 'playlist')
  if (channels.length > 0) await post('/api/channel/', { data: channels.map(({ word }) => ({ channel_id: word, channel_subscribed: true })) })
  if (playlists.length > 0) await post('/api/playlist/', { data: playlists.map(({ word }) => ({ playlist_id: word, playlist_subscribed: true })) })
  forget('channel')
  forget('playlist')
  say(t('adding.subscribing', { count: understood.length }))
}
