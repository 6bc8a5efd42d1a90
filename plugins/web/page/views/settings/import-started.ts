/** Import: scans and imports that were started here. They may end before the page has seen them run. */
import { post } from '../../server/api.ts'
import type { Adoption } from '../../server/records.ts'

const started = new Map<number, 'scanning' | 'adopting'>()

/** @param told  what the other program's library is, if the person has said so */
export async function startScan(place: number, told: object = {}): Promise<void> {
  const { id } = await post<Adoption>('/api/adoption/', { place, ...told })
  started.set(id, 'scanning')
}

export async function startImport(id: number, along: object): Promise<void> {
  await post(`/api/adoption/${id}/`, { command: 'adopt', along })
  started.set(id, 'adopting')
}

/** What was started and has not been reported yet. Once the import is in another state, forgets it. */
export function takeStarted({ id, state }: Adoption): 'scanning' | 'adopting' | undefined {
  const what = started.get(id)
  if (state !== what) started.delete(id)
  return what
}
