/**
 * Where the one player stands: in the view of its video, or in the corner while one looks around. Its element is moved,
 * never made anew, so that it plays on.
 */
import { render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { match, place } from '../browser/router.ts'
import { isSignedIn } from '../server/api.ts'
import { deleted, noteBack } from '../stores/deleted.ts'
import { corner, dock } from './corner.ts'
import type { Machine } from './machine.ts'
import { Player, type PlayerProps } from './player.tsx'

/** What is on, drawn again with each change of its view. */
interface Performance {
  props: PlayerProps
  /** Undefined: not begun yet. */
  machine: Machine | undefined
}

const host = document.createElement('div')
host.className = 'stage'
let now: Performance | undefined

/** Whether this video's player is there already: it goes on from where it is. */
export const isOnStage = (id: string): boolean => now?.props.video.platform_id === id

function draw(props: PlayerProps, isSmall: boolean): void {
  const { video } = props
  const playing: Performance = isOnStage(video.platform_id) ? now! : { props, machine: undefined }
  now = playing
  playing.props = props
  const onMachine = (made: Machine) => {
    playing.machine = made
    playing.props.onMachine(made)
  }
  render(<Player key={video.platform_id} {...props} isSmall={isSmall} onMachine={onMachine} />, host)
}

function end(): void {
  render(null, host)
  host.remove()
  now = undefined
  corner.value = undefined
}

isSignedIn.subscribe((isThere) => isThere === false && now && end())

/** What plays goes into the corner, unless another video comes. @param path  of the view, for the way back */
function leave(path: string): void {
  const { machine, props } = now ?? {}
  const isOther = match('/video/:videoId/', place.peek().path) !== undefined
  if (!machine || !props || !dock.current || isOther || !goesOn(machine) || deleted.peek().has(props.video.platform_id))
    return end()
  dock.current.append(host)
  draw(props, true)
  const { title, platform_id: id } = props.video
  const { isPlaying, toggle } = machine
  corner.value = { id, title, path, isPlaying, toggle, close: end }
}

/** Nobody looks for what stands still, or has a window of its own. */
const goesOn = ({ isPlaying, failure, isPip }: Machine): boolean => isPlaying.peek() && !failure.peek() && !isPip.peek()

/** The player of a view. @param path  of the view */
export function Stage({ path, ...props }: PlayerProps & { path: string }) {
  const slot = useRef<HTMLDivElement>(null)
  const { video } = props
  const newest = useRef(path)
  newest.current = path
  useLayoutEffect(() => {
    noteBack(video.platform_id)
    const known = isOnStage(video.platform_id) ? now?.machine : undefined
    slot.current!.append(host)
    corner.value = undefined
    if (known) {
      props.onMachine(known)
      if (props.startAt !== undefined) known.jump(props.startAt)
    }
    return () => leave(newest.current)
  }, [video.platform_id])
  useLayoutEffect(() => draw(props, false))
  return <div ref={slot} class="stage-slot" />
}
