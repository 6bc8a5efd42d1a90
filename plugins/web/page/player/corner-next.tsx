/** What follows a video that ends in the corner: said there, and begun by itself where that is wanted. */
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
  /** Of its view: what it says of the playlist holds on. */
  path: string
  onSteps: (steps: Steps) => void
}

/** For a video whose view was never there. */
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
