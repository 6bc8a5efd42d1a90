/** Reads records of the bin from the folders of the films: another program with access could have changed them. */
import { errors, say } from 'archivolt'
import type { ChannelBelongings } from '../channel/belongings.ts'
import type { Belongings } from '../video/types.ts'
import type { App } from './app.ts'

export type VideoRecord = Belongings & { channelName: string }

/** @throws unprocessable: the record is missing, damaged, or belongs to another video */
export async function readRecord(app: App, trashId: string, channelId: string): Promise<ChannelBelongings>
export async function readRecord(app: App, trashId: string, channelId: string, videoId: string): Promise<VideoRecord>
export async function readRecord(
  app: App,
  trashId: string,
  channelId: string,
  videoId?: string,
): Promise<VideoRecord | ChannelBelongings>
export async function readRecord(
  app: App,
  trashId: string,
  channelId: string,
  videoId?: string,
): Promise<VideoRecord | ChannelBelongings> {
  const id = videoId ?? channelId
  const text = await app.media.binned.read(trashId, channelId, videoId)
  if (text === undefined) throw errors.unprocessable(say`The record of ${{ id }} is no longer in the bin`)
  let told: unknown
  try {
    told = JSON.parse(text)
  } catch {
    throw errors.unprocessable(say`The record of ${{ id }} in the bin is damaged`)
  }
  if (videoId === undefined) return app.channels.checkBelongings(channelId, told)
  const belongings = app.videos.checkBelongings(videoId, told)
  const { channelName } = told as { channelName?: unknown }
  return { ...belongings, channelName: typeof channelName === 'string' ? channelName : belongings.video.channel_id }
}
