/** A playable copy and seek previews as the plugin `playable` makes them. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestApp } from './testing.ts'

export async function givenCopyAndPreviews({ app: { copies, previews } }: TestApp, videoId: string): Promise<void> {
  await writeFile(copies.beginDraft(videoId), 'a copy')
  await copies.keep(videoId)
  await mkdir(previews.draftOf(videoId), { recursive: true })
  await writeFile(join(previews.draftOf(videoId), '1.jpg'), 'a sheet')
  await previews.keep(videoId, { interval: 2, count: 1, columns: 1, rows: 1, sheets: 1, width: 160, height: 90 })
}
