/** Why the platform does not tell of a video, for people: as words, where the class of the failure says all there is. */
import type { Words } from 'archivolt'
import type { Failure } from '../platform/types.ts'
import type { App } from './app.ts'
import { because } from './because.ts'

type Of = { platform: string }

const SAID: Partial<Record<Failure['failure'], (of: Of) => Words>> = {
  gone: (of) => because('{platform} does not have it any more', of),
  restricted: (of) => because('{platform} does not show it in this country, or in this way', of),
  login_required: (of) => because('{platform} shows it to accounts alone: add a cookie', of),
  members_only: (of) => because('{platform} shows it to members of the channel alone', of),
  age: (of) => because('{platform} shows it to adults alone: add a cookie', of),
  upcoming: (of) => because('{platform} has announced it, or sends it live now', of),
  network: (of) => because('{platform} could not be reached', of),
}

/** Else in the words of yt-dlp. */
export function saidBy({ name: platform }: App['platform'], { failure, message }: Failure): Words {
  return SAID[failure]?.({ platform }) ?? because('{platform} answers with: {reason}', { platform, reason: message })
}
