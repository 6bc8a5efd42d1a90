/** The reason why downloads are paused, as one sentence that precedes all others about downloads. */
import type { IconNode } from 'lucide'
import { CirclePause, CloudOff, Hourglass, TriangleAlert } from 'lucide'
import type { PlatformState } from '../server/records.ts'
import { DAY_SECONDS, toMoment, toTimeOfDay } from '../texts/format.ts'
import { inWords, t } from '../texts/lookup.ts'

interface StopReason {
  tone: 'waiting' | 'trouble'
  icon: IconNode
  title: string
  text: string
  actions: Array<'retry' | 'accept' | 'pause' | 'resume'>
}

/** Only the time of day if the moment is less than half a day away. */
const timeOf = (epoch: number): string =>
  Math.abs(epoch - Date.now() / 1000) < DAY_SECONDS / 2 ? toTimeOfDay(epoch) : toMoment(epoch)

/** Programs that only solve the platform's challenges: without them downloads continue, with fewer formats. */
const FOR_CHALLENGES = new Set(['javascript', 'yt-dlp-ejs'])

/** Programs that downloads require. */
export const stoppingIn = ({ missing }: PlatformState): string[] => missing.filter((name) => !FOR_CHALLENGES.has(name))

/** Removes the text up to the first colon, which repeats the title. */
const detailOf = (reason: string): string => reason.replace(/^[^:]+: /, '')

/** undefined: downloads are not paused */
export function stopReasonOf(platform: PlatformState): StopReason | undefined {
  const { state, since: sinceEpoch, next_attempt: nextEpoch } = platform
  const reason = inWords(platform.reason, platform.said)
  const missing = stoppingIn(platform)
  const [since, next] = [timeOf(sinceEpoch), timeOf(nextEpoch)]
  const unchanged = `${detailOf(reason)} ${t('downloads.state.unchanged')}`
  switch (state) {
    case 'paused':
      return {
        tone: 'waiting',
        icon: CirclePause,
        title: t('downloads.state.paused', { time: since }),
        text: t('downloads.state.paused.text'),
        actions: ['resume'],
      }
    case 'blocked':
    case 'offline':
      return {
        tone: 'trouble',
        icon: state === 'blocked' ? Hourglass : CloudOff,
        title: t(`downloads.state.${state}`, { time: since, next }),
        text: unchanged,
        actions: ['retry', 'pause'],
      }
    case 'halted':
      return {
        tone: 'trouble',
        icon: TriangleAlert,
        title: t('downloads.state.halted', { time: since }),
        text: nextEpoch > 0 ? `${reason} ${t('downloads.state.again', { next })}` : reason,
        actions: ['retry', 'accept'],
      }
    case 'open':
      return missing.length === 0
        ? undefined
        : {
            tone: 'trouble',
            icon: TriangleAlert,
            title: t('downloads.missingTool', { count: missing.length, tools: missing.join(', ') }),
            text: t('downloads.state.unchanged'),
            actions: [],
          }
  }
}
