/** Reads a page of a list. A list may shrink meanwhile: a page past its end is then empty, and not a failure. */
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
