/** Whether videos can be fetched from the platform just now, as whoever asked last has heard it. */
import { signal } from '@preact/signals'
import type { PlatformState } from '../server/records.ts'

export const platformState = signal<PlatformState | undefined>(undefined)
