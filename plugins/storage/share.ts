/** Reports at the start that the data folder is on a network share, where SQLite can lose what it has written. */
import { statfs } from 'node:fs/promises'
import { inEnglish, say } from 'archivolt'
import type { App } from './app.ts'

/** Types of file systems as `statfs` reports them (Linux, magic.h). */
const SHARES: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'SMB',
  16914839: '9P',
  1397113167: 'AFS',
  12805120: 'Ceph',
}
const TOLD_SECONDS = 7 * 86_400

/** The kind of the share that the folder is on. undefined: a disk of this machine, or unknown. */
export async function shareOf(folder: string): Promise<string | undefined> {
  const { type } = await statfs(folder)
  return SHARES[type >>> 0]
}

export async function tellShare({ settings, log, jobs }: App): Promise<void> {
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
