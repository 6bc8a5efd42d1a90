/**
 * Lists and removes data that restores have replaced, which is kept in the data folder until somebody deletes it or it
 * is no longer needed.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asideFolders, bytesBelow, DAY_SECONDS, dropOffered, epochSeconds, errors, offeredAt } from 'archivolt'
import type { App } from '../app.ts'

export const ASIDE_DAYS = 30
export const ASIDE_PATTERN = '^before-restore-[0-9]{8}T[0-9]{6}$'

interface Aside {
  name: string
  bytes: number
  /** Epoch seconds. */
  at: number
}

/** Sorted newest first. */
export async function listReplaced({ settings }: App): Promise<Aside[]> {
  const found: Aside[] = []
  for (const folder of asideFolders(settings.dataDir))
    found.push({ ...folder, bytes: await bytesBelow(join(settings.dataDir, folder.name)) })
  return found
}

/** @throws not_found */
export async function dropReplaced(name: string, { settings }: App): Promise<void> {
  if (!asideFolders(settings.dataDir).some((folder) => folder.name === name)) throw errors.notFound('folder', name)
  await rm(join(settings.dataDir, name), { recursive: true })
}

/**
 * Removes replaced data older than 30 days, if a backup made after that restore has been proven.
 * @param provenAt  epoch seconds: when the backup was made that has just passed a rehearsal
 */
export async function dropOldReplaced(provenAt: number, { settings, clock, log }: App): Promise<void> {
  const before = Math.min(provenAt, epochSeconds(clock) - ASIDE_DAYS * DAY_SECONDS)
  for (const { name, at } of asideFolders(settings.dataDir)) {
    if (at >= before) continue
    await rm(join(settings.dataDir, name), { recursive: true })
    log.info({ folder: name }, 'data that a restore had replaced was removed: a newer backup has passed a test restore')
  }
}

/** Epoch seconds: since when a prepared restore waits for the next start. */
export const waitingSince = ({ settings }: App): number | undefined => offeredAt(settings.dataDir)

/** @throws not_found */
export async function dropWaiting(app: App): Promise<void> {
  if (waitingSince(app) === undefined) throw errors.notFound('restore')
  await dropOffered(app.settings.dataDir)
}
