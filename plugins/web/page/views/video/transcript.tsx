/** The transcript beside the film: follows the playback, can be searched, and seeks to any line. */
import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { LocateFixed, X } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { Box } from '../../parts/states.tsx'
import type { Line } from '../../player/lines.ts'
import type { Machine } from '../../player/machine.ts'
import { toClock } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'

interface TranscriptProps {
  machine: Machine
  onClose: () => void
}

export function Transcript({ machine, onClose }: TranscriptProps) {
  const number = Math.max(0, machine.subtitle.value)
  const [lines, setLines] = useState<Line[] | 'failed'>()
  const [wanted, setWanted] = useState('')
  const isFollowing = useSignal(true)
  useEffect(() => {
    let isOld = false
    const show = (read: Line[] | 'failed') => isOld || setLines(read)
    setLines(undefined)
    machine.linesOf(number).then(show, () => show('failed'))
    return () => void (isOld = true)
  }, [machine, number])
  return (
    <section class="transcript" aria-label={t('video.transcript')}>
      <header>
        <input
          type="search"
          aria-label={t('transcript.search')}
          placeholder={t('transcript.search')}
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
        <IconButton
          icon={LocateFixed}
          label={t('transcript.follow')}
          aria-pressed={isFollowing.value}
          onClick={() => void (isFollowing.value = !isFollowing.value)}
        />
        <IconButton icon={X} label={t('transcript.close')} onClick={onClose} />
      </header>
      {lines === undefined ? (
        <Box height="160px" radius="8px" />
      ) : lines === 'failed' ? (
        <p role="alert">{t('transcript.failed')}</p>
      ) : (
        <Lines lines={lines} wanted={wanted.trim()} machine={machine} isFollowing={isFollowing} />
      )}
    </section>
  )
}

interface LinesProps {
  lines: Line[]
  wanted: string
  machine: Machine
  isFollowing: { value: boolean }
}

function Lines({ lines, wanted, machine, isFollowing }: LinesProps) {
  const list = useRef<HTMLOListElement>(null)
  const spoken = useComputed(() => lines.findLastIndex(({ from }) => from <= machine.position.value + 0.1))
  const low = wanted.toLocaleLowerCase()
  const shown = [...lines.entries()].filter(([, { text }]) => text.toLocaleLowerCase().includes(low))
  useSignalEffect(() => {
    const row = list.current?.querySelector<HTMLElement>(`[data-line="${spoken.value}"]`)
    if (row && isFollowing.value) list.current!.scrollTop = row.offsetTop - list.current!.clientHeight / 3
  })
  const letGo = () => void (isFollowing.value = false)
  if (shown.length === 0) return <p class="hint">{t('transcript.none')}</p>
  return (
    <ol ref={list} onWheel={letGo} onTouchMove={letGo}>
      {shown.map(([at, line]) => (
        <li key={at} data-line={at}>
          <button
            type="button"
            aria-current={at === spoken.value ? 'true' : undefined}
            onClick={() => {
              machine.jump(line.from)
              isFollowing.value = true
            }}
          >
            <span class="meta">{toClock(line.from)}</span>
            <span dir="auto">
              <Marked text={line.text} wanted={low} />
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}

function Marked({ text, wanted }: { text: string; wanted: string }) {
  const low = text.toLocaleLowerCase()
  // If lower-casing changes the length of the text, positions would be wrong, so nothing is marked.
  const at = wanted === '' || low.length !== text.length ? -1 : low.indexOf(wanted)
  if (at < 0) return <>{text}</>
  const end = at + wanted.length
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, end)}</mark>
      {text.slice(end)}
    </>
  )
}
