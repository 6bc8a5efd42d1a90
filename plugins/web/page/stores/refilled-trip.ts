/** The trip pack that this device refills: its source, and its number of hours. */
import { effect, signal } from '@preact/signals'
import type { Query } from '../server/api.ts'
import { account } from './session.ts'

export interface RefilledTrip {
  /** The source in words; empty: all videos. */
  name: string
  path: string
  query: Query
  hours: number
}

const keyOf = (id: number): string => `av_trip_${id}`

/** The pack of the signed-in account. */
export const refilledTrip = signal<RefilledTrip | undefined>(undefined)

effect(() => void (refilledTrip.value = account.value && readStored(account.value.id)))

function readStored(id: number): RefilledTrip | undefined {
  try {
    return (JSON.parse(localStorage.getItem(keyOf(id)) ?? 'null') as RefilledTrip | null) ?? undefined
  } catch {
    return undefined // storage is blocked, or contains something else
  }
}

/** @param trip  undefined: no pack is refilled any more */
export function setRefilledTrip(trip: RefilledTrip | undefined): void {
  const id = account.peek()?.id
  if (id === undefined) return
  refilledTrip.value = trip
  try {
    if (trip) localStorage.setItem(keyOf(id), JSON.stringify(trip))
    else localStorage.removeItem(keyOf(id))
  } catch {
    return // storage is blocked: this lasts until the page is closed
  }
}
