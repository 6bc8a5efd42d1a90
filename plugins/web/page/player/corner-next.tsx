/**
 * The next video after one that ends in the corner: it is announced there, and starts by itself if the account wants
 * that.
 */
import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Video } from '../server/records.ts'
import { coming } from './corner.ts'
import { useCountdown } from './countdown.ts'
import { useFollowing } from './following.ts'
import type { Machine } from './machine.ts'
import type { Step } from './step.ts'

export interface Steps {
  next: Step | undefined
  previous: Step | undefined
}

interface FollowProps {
  video: Video
  /** The path of the view, whose query names the playlist. */
  path: string
  onSteps: (steps: Steps) => void
}

/** Determines the next and previous video for a video whose view was never open. */
export function Follow({ video, path, onSteps }: FollowProps) {
  const query = useSignal(new URLSearchParams(path.split('?')[1]))
  const { next, previous } = useFollowing(video.platform_id, video, query)
  useSignalEffect(() => onSteps({ next: next.value, previous: previous.value }))
  return null
}

interface NextProps {
  machine: Machine
  next: Step | undefined
  isAutoplay: boolean
}

export const CornerNext = ({ machine, next, isAutoplay }: NextProps) =>
  machine.hasEnded.value && next ? <Count key={next.path} {...next} isAutoplay={isAutoplay} /> : null

function Count({ title, go, isAutoplay }: Step & { isAutoplay: boolean }) {
  const { left } = useCountdown(isAutoplay, go)
  useEffect(() => void (coming.value = { title, left: isAutoplay ? left : undefined, go }))
  useEffect(() => () => void (coming.value = undefined), [])
  return null
}
