/** What a request asks of the queue, as a filter of its documents. */
import type { Filter, NamesOf } from 'archivolt'
import type { downloadIndex } from './schema.ts'

export type QueueFilter = Filter<NamesOf<typeof downloadIndex>>

interface QueueQuery {
  /** `pending` includes priority items. */
  filter?: string | undefined
  channel?: string | undefined
  vidType?: string | undefined
  errorClass?: string | undefined
  /** Whether it has a message. */
  error?: boolean | undefined
}

/** @returns undefined: every item is meant */
export function filterOf({ filter, channel, vidType, errorClass, error }: QueueQuery): QueueFilter | undefined {
  const parts: QueueFilter[] = []
  if (filter === 'pending') parts.push({ eq: ['open', true] })
  else if (filter) parts.push({ eq: ['status', filter] })
  if (channel) parts.push({ eq: ['channel_id', channel] })
  if (vidType) parts.push({ eq: ['vid_type', vidType] })
  if (errorClass) parts.push({ eq: ['error_class', errorClass] })
  if (error !== undefined) parts.push(error ? { exists: 'error_class' } : { not: { exists: 'error_class' } })
  return parts.length > 1 ? { and: parts } : parts[0]
}
