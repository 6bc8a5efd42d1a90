/** Removes the account's position in a video, so that the video disappears from Continue watching, with Undo. */
import { RotateCcw } from 'lucide'
import { get, post, remove } from '../server/api.ts'
import type { List, Rows } from '../stores/list.ts'
import { cachedUnder } from '../stores/load.ts'
import { t } from '../texts/lookup.ts'
import type { MenuItem } from './menu.tsx'
import { say } from './toast.ts'
import type { VideoRow } from './video-row.ts'

/** Empty if the video has not been started. */
export function positionAction({ id, progress }: Pick<VideoRow, 'id' | 'progress'>): MenuItem[] {
  return progress > 0 ? [{ label: t('position.forget'), icon: RotateCcw, onSelect: () => forgetPosition(id) }] : []
}

async function forgetPosition(id: string): Promise<void> {
  const path = `/api/video/${id}/progress/`
  const { position } = await get<{ position: number }>(path)
  await remove(path)
  for (const list of cachedUnder<Rows<VideoRow>>('list /api/')) list.change(id, (row) => ({ ...row, progress: 0 }))
  for (const list of begunLists()) list.drop(id)
  const undo = async () => {
    await post(path, { position })
    for (const list of begunLists()) await list.reload()
  }
  say(t('position.forgotten'), { undo })
}

const begunLists = () => cachedUnder<List<VideoRow>>('list /api/video/ {"watch":"continue"')
