/**
 * Reads records of the bin from the folders of the films. They are not trusted, because another program with access
 * could have changed them.
 */
import { errors, say } from 'archivolt'
import type { ChannelBelongings } from '../channel/belongings.ts'
import type { Belongings } from '../video/types.ts'
import type { App } from './app.ts'

export type VideoRecord = Belongings & { channelName: string }

/** The record of a channel. @throws unprocessable: it is missing, damaged, or belongs to another channel */
export async function readChannel(app: App, trashId: string, channelId: string): Promise<ChannelBelongings> {
  const [text] = await app.media.binned.read(trashId, [{ channelId }])
  return app.channels.checkBelongings(channelId, parsed(text, channelId))
}

/** The same for a video. */
export async function readVideo(app: App, trashId: string, channelId: string, videoId: string): Promise<VideoRecord> {
  const [text] = await app.media.binned.read(trashId, [{ channelId, videoId }])
  return videoIn(app, text, videoId)
}

/** The record of a video in this text. @throws unprocessable */
export function videoIn(app: App, text: string | undefined, videoId: string): VideoRecord {
  const told = parsed(text, videoId)
  const belongings = app.videos.checkBelongings(videoId, told)
  const { channelName } = told as { channelName?: unknown }
  return { ...belongings, channelName: typeof channelName === 'string' ? channelName : belongings.video.channel_id }
}

export const damagedRecord = (id: string) => errors.unprocessable(say`The record of ${{ id }} in the bin is damaged`)

function parsed(text: string | undefined, id: string): unknown {
  if (text === undefined) throw errors.unprocessable(say`The record of ${{ id }} is no longer in the bin`)
  try {
    return JSON.parse(text)
  } catch {
    throw damagedRecord(id)
  }
}
