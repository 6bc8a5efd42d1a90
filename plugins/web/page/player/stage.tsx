/**
 * Places the single player in the view of its video, or in the corner while other views are open. Its element is moved
 * and never recreated, so that playback continues.
 */
import { render } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { match, route } from '../browser/router.ts'
import { sayFailure } from '../parts/toast.ts'
import { toggleWatched } from '../parts/watched.ts'
import { get, isSignedIn } from '../server/api.ts'
import type { Item, Video } from '../server/records.ts'
import { deleted, noteBack } from '../stores/deleted.ts'
import { titledAs } from '../stores/titles.ts'
import { corner, dock } from './corner.ts'
import { Follow, type Steps } from './corner-next.tsx'
import type { Machine } from './machine.ts'
import { Player, type PlayerProps } from './player.tsx'
import type { Step } from './step.ts'

export { FULL_FRAME } from './screen.ts'

/** The current playback, which is rendered again after each change of its view. */
interface Performance {
  props: PlayerProps
  /** Undefined: not started yet. */
  machine: Machine | undefined
}

const host = document.createElement('div')
host.className = 'stage'
let now: Performance | undefined

/** Whether the player already has this video, so that it continues at its position. */
export const isOnStage = (id: string): boolean => now?.props.video.platform_id === id

/** @param inCorner  the path of its view, if the player is in the corner; undefined: the player is in its view */
function draw(props: PlayerProps, inCorner?: string): void {
  const { video } = props
  const playing: Performance = isOnStage(video.platform_id) ? now! : { props, machine: undefined }
  now = playing
  playing.props = props
  const onMachine = (made: Machine) => {
    playing.machine = made
    playing.props.onMachine(made)
  }
  render(<OnStage {...props} inCorner={inCorner} onMachine={onMachine} />, host)
}

/** While the player is in the corner, the next video also starts there, without leaving the current view. */
function OnStage({ inCorner, ...props }: PlayerProps & { inCorner: string | undefined }) {
  const { video, next, previous } = props
  const [found, setFound] = useState<Steps & { of?: string }>({ next, previous })
  const isSmall = inCorner !== undefined
  // If the view that was left gave no next or previous video, the corner determines them itself.
  const isFollowed = isSmall && next === undefined && previous === undefined
  const { platform_id: id } = video
  const steps = isFollowed ? (found.of === id ? found : NONE) : { next, previous }
  const here = isSmall
    ? { next: inCornerStep(steps.next, props), previous: inCornerStep(steps.previous, props) }
    : steps
  return (
    <>
      <Player key={id} {...props} {...here} isSmall={isSmall} />
      {isFollowed && (
        <Follow
          key={`${id} follows`}
          video={video}
          path={inCorner}
          onSteps={(steps) => setFound({ ...steps, of: id })}
        />
      )}
    </>
  )
}

const NONE: Steps = { next: undefined, previous: undefined }

const inCornerStep = (step: Step | undefined, props: PlayerProps): Step | undefined =>
  step && { ...step, go: () => void begin(step, props).catch(sayFailure) }

/**
 * Starts another video in the corner.
 * @throws Failure  it cannot be loaded
 */
async function begin(step: Step, before: PlayerProps): Promise<void> {
  const { path } = step
  const id = match('/video/:videoId/', path.split('?')[0]!)!['videoId']!
  const { data: video } = await get<Item<Video>>(`/api/video/${id}/`)
  // The corner was closed meanwhile, or the player is back in its view.
  if (!corner.peek() || now?.props.video !== before.video) return
  const props: PlayerProps = {
    ...before,
    ...NONE,
    video,
    startAt: undefined,
    onEnd: () => void (video.player.watched || markSeen(video)),
    onFile: () => void begin(step, props).catch(sayFailure),
    onMachine: (machine) => showCorner(props, machine, path),
  }
  draw(props, path)
}

const markSeen = ({ platform_id: id, player: { watched, progress = 0 } }: Video): Promise<void> =>
  toggleWatched({ id, isWatched: watched, progress })

function end(): void {
  render(null, host)
  host.remove()
  now = undefined
  corner.value = undefined
}

isSignedIn.subscribe((isThere) => isThere === false && now && end())

/**
 * Keys of history entries whose start time was used: when somebody returns with Back, the film continues at its current
 * position.
 */
const begunIn = new Set<string>()

/**
 * Moves a playing video into the corner, unless the view of another video opens.
 * @param path  the view to return to
 */
function leave(path: string): void {
  const { machine, props } = now ?? {}
  const isOther = match('/video/:videoId/', route.peek().path) !== undefined
  if (!machine || !props || !dock.current || isOther || !goesOn(machine) || deleted.peek().has(props.video.platform_id))
    return end()
  moveInto(dock.current)
  draw(props, path)
  showCorner(props, machine, path)
}

function showCorner({ video }: PlayerProps, { isPlaying, toggle }: Machine, path: string): void {
  corner.value = { id: video.platform_id, title: titledAs(video).title, path, isPlaying, toggle, close: end }
}

/** Picture-in-picture survives only a real move (`moveBefore`), not the removal and insertion of the element. */
function moveInto(box: HTMLElement): void {
  if (host.isConnected && box.moveBefore) box.moveBefore(host, null)
  else box.append(host)
}

/** Only playing videos and those in picture-in-picture continue in the corner. */
const goesOn = ({ isPlaying, failure, isPip }: Machine): boolean =>
  (isPlaying.peek() || isPip.peek()) && failure.peek() === undefined

/**
 * The player of a view.
 * @param path  the path of the view
 */
export function Stage({ path, ...props }: PlayerProps & { path: string }) {
  const slot = useRef<HTMLDivElement>(null)
  const { video } = props
  const newest = useRef(path)
  newest.current = path
  useLayoutEffect(() => {
    noteBack(video.platform_id)
    const known = isOnStage(video.platform_id) ? now?.machine : undefined
    const { key } = route.peek()
    moveInto(slot.current!)
    corner.value = undefined
    if (known) {
      props.onMachine(known)
      if (props.startAt !== undefined && !begunIn.has(key)) known.jump(props.startAt)
    }
    begunIn.add(key)
    return () => leave(newest.current)
  }, [video.platform_id])
  useLayoutEffect(() => draw(props))
  return <div ref={slot} class="stage-slot" />
}
