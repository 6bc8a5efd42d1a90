/** The latest reply about the state of the platform. */
import { signal } from '@preact/signals'
import { whenOver } from '../server/api.ts'
import type { PlatformState } from '../server/records.ts'

export const platformState = signal<PlatformState | undefined>(undefined)
whenOver(() => void (platformState.value = undefined))
