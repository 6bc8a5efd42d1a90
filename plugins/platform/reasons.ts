/**
 * Translatable reasons why a video is unavailable, because the messages of yt-dlp and the platform are English and
 * meant for a terminal. A reason is chosen by message, otherwise by failure class, with separate values for translation
 * (`server.…` in `plugins/web/page/texts/`).
 */
import { type Sentence, say, sentenceOf, type Words } from 'archivolt'
import { FAILURES, type FailureClass } from './failure-classes.ts'

type Rule = [words: RegExp, reason: (one: string, other: string) => Words]

/** The first match wins. Captured groups are the values. The texts come from `test/platform/errors.md`. */
const RULES: readonly Rule[] = [
  [/http error (\d{3})/i, (status) => say`The platform answered with error ${{ status }}`],
  [/private video|this video is private/i, () => say`This video is private`],
  [/account associated with this video has been terminated/i, () => say`The uploader’s account was closed`],
  [/removed by the uploader/i, () => say`Removed by the uploader`],
  [/this video has been removed for violating/i, () => say`Removed for breaking the platform’s rules`],
  [/due to a copyright claim by (.{1,100})/i, (name) => say`Taken down on a copyright claim by ${{ name }}`],
  [/blocked it on copyright grounds/i, () => say`Blocked on copyright grounds`],
  [/blocked it in your country|available in your country|a vpn or a proxy server/i, () => say`Blocked in this country`],
  [/is drm protected/i, () => say`Protected against copying (DRM)`],
  [/requires payment to watch/i, () => say`Requires payment`],
  [/members on level: (.{1,100}?) \(/i, (level) => say`Only for members at the level ${{ level }}`],
  [/premieres in|premiere will begin/i, () => say`Its premiere has not started yet`],
  [/this live event will begin/i, () => say`The live stream has not started yet`],
  [/event has ended|processing this video|is live, or just over/i, () => say`Live, or just over and being processed`],
  [/recording is not available/i, () => say`There is no recording of the live stream`],
  [
    /^(\d+)p is the best that is offered, (\d+)p is wanted/,
    (best, wanted) => say`${{ best: `${best}p` }} is the best available, but ${{ wanted: `${wanted}p` }} is wanted`,
  ],
  [/not offered in the language ([\w-]+)/i, (language) => say`No audio track in the language ${{ language }}`],
  [/timed out|no answer within/i, () => say`The platform did not answer in time`],
  [
    /unable to recognize tab page|failed to extract any player response/i,
    () => say`yt-dlp does not understand the platform’s answer`,
  ],
]

/**
 * @param message  the stored message for people
 * @returns undefined: nothing more specific than the message
 */
export function reasonOf(failure: FailureClass, message: string): Sentence | undefined {
  for (const [text, reason] of RULES) {
    const found = text.exec(message)
    if (found) return sentenceOf(reason(...(found.slice(1) as [string, string])))
  }
  const { said } = FAILURES[failure]
  return said === undefined ? undefined : sentenceOf(said)
}
