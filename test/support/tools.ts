/** The pinned yt-dlp and Apprise, for tests that call them directly. */
import { join } from 'node:path'
import { ROOT } from './sources.ts'

/** A Python venv. */
export const TOOLS = join(ROOT, 'tools')
