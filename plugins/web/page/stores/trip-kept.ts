/** The trip pack that this device keeps filled: its source, and its number of hours. */
import { effect, signal } from '@preact/signals'
import type { Query } from '../server/api.ts'
import { account } from './session.ts'

export interface KeptTrip {
  /** The source in words; empty: all videos. */
  name: string
  path: string
  query: Query
  hours: number
}

const keyOf = (id: number): string => `av_trip_${id}`

/** The pack of the signed-in account. */
export const keptTrip = signal<KeptTrip | undefined>(undefined)

effect(() => void (keptTrip.value = account.value && readKept(account.value.id)))

function readKept(id: number): KeptTrip | undefined {
  try {
    return (JSON.parse(localStorage.getItem(keyOf(id)) ?? 'null') as KeptTrip | null) ?? undefined
  } catch {
    return undefined // storage is blocked, or contains something else
  }
}

/** @param trip  undefined: no pack is kept filled any more */
export function keepTrip(trip: KeptTrip | undefined): void {
  const id = account.peek()?.id
  if (id === undefined) return
  keptTrip.value = trip
  try {
    if (trip) localStorage.setItem(keyOf(id), JSON.stringify(trip))
    else localStorage.removeItem(keyOf(id))
  } catch {
    return // storage is blocked: this lasts until the page is closed
  }
}
