/** Warns at the start if the data folder is on a network share, where SQLite can lose written data. */
import { statfs } from 'node:fs/promises'
import { DAY_SECONDS, inEnglish, say } from 'archivolt'
import type { App } from './app.ts'

/** Types of file systems as `statfs` reports them (Linux, magic.h). */
const SHARES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
])
const TOLD_SECONDS = 7 * DAY_SECONDS

/** The kind of the share that the folder is on. undefined: a disk of this machine, or unknown. */
export async function shareOf(folder: string): Promise<string | undefined> {
  const { type } = await statfs(folder)
  return SHARES.get(type >>> 0)
}

export async function reportShare({ settings, log, jobs }: App): Promise<void> {
  const share = await shareOf(settings.dataDir)
  if (share === undefined) return
  const sentence = say`The data folder is on a network share (${{ share }}), where a broken connection can damage the database. Move it to a disk of this machine (AV_DATA_DIR); the library may stay on the share (AV_MEDIA_DIR)`
  log.warn({ folder: settings.dataDir, share }, inEnglish(sentence))
  await jobs.notify({
    title: 'The data folder is on a network share',
    group: 'setting:application',
    level: 'error',
    messages: [sentence],
    shownForSeconds: TOLD_SECONDS,
  })
}
