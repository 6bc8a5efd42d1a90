/** Reads lists by pages, whose size the server chooses. A list may shrink meanwhile: a page past its end is then empty. */
import { Failure, get, type Query } from './api.ts'
import type { Page } from './records.ts'

/** @throws Failure  not even the first page exists, or the server cannot be reached */
export async function getPage<Record>(path: string, query: Query, signal?: AbortSignal): Promise<Page<Record>> {
  try {
    return await get<Page<Record>>(path, query, signal)
  } catch (error) {
    const isPastEnd = error instanceof Failure && error.status === 404 && Number(query['page']) > 1
    const paginate = isPastEnd ? (error.body['paginate'] as Page<Record>['paginate'] | undefined) : undefined
    if (!paginate) throw error
    return { data: [], paginate }
  }
}

/**
 * The records of all pages.
 * @param most  no further page is read once there are this many
 */
export async function getAll<Record>(
  path: string,
  query: Query,
  most = Number.POSITIVE_INFINITY,
  signal?: AbortSignal,
): Promise<Record[]> {
  const found: Record[] = []
  // On the last page, `last_page` is 0.
  for (let page = 1, last = 1; page <= last && found.length < most; page++) {
    const { data, paginate } = await getPage<Record>(path, { ...query, page }, signal)
    found.push(...data)
    last = paginate.last_page
  }
  return found.slice(0, most)
}
