/** The pack for a trip that this device keeps filled: from where, and for how many hours. */
import { effect, signal } from '@preact/signals'
import type { Query } from '../server/api.ts'
import { account } from './session.ts'

export interface KeptTrip {
  /** For people; empty: from everything. */
  name: string
  path: string
  query: Query
  hours: number
}

const keyOf = (id: number): string => `av_trip_${id}`

/** Of the signed-in account. */
export const keptTrip = signal<KeptTrip | undefined>(undefined)

effect(() => void (keptTrip.value = account.value && readKept(account.value.id)))

function readKept(id: number): KeptTrip | undefined {
  try {
    return (JSON.parse(localStorage.getItem(keyOf(id)) ?? 'null') as KeptTrip | null) ?? undefined
  } catch {
    return undefined // blocked, or not written by this page
  }
}

/** @param trip  undefined: none is kept any more */
export function keepTrip(trip: KeptTrip | undefined): void {
  const id = account.peek()?.id
  if (id === undefined) return
  keptTrip.value = trip
  try {
    if (trip) localStorage.setItem(keyOf(id), JSON.stringify(trip))
    else localStorage.removeItem(keyOf(id))
  } catch {
    return // blocked: it is kept until the page is closed
  }
}
