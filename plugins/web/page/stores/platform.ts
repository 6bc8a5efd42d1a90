/** The latest reply about the state of the platform. */
import { signal } from '@preact/signals'
import { whenOver } from '../server/api.ts'
import type { PlatformState } from '../server/records.ts'
import { countTurns } from './turns.ts'

/** Begins a request for the state: only the newest one sets it. */
export const beginReading = countTurns()
export const platformState = signal<PlatformState | undefined>(undefined)
whenOver(() => void (platformState.value = undefined))
