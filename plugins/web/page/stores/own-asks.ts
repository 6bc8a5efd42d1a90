/** The account's asks, and what became of them. */
import { get } from '../server/api.ts'
import type { OwnAsk } from '../server/records.ts'
import { useLoad } from './load.ts'

export const useOwnAsks = () => useLoad<OwnAsk[]>('ask/own', (signal) => get('/api/ask/own/', {}, signal))
