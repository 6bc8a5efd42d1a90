/** The player's controls: the seek bar with its segments, and the buttons. */
import {
  AArrowDown,
  AArrowUp,
  Captions,
  CaptionsOff,
  Cast,
  FastForward,
  Gauge,
  Maximize,
  Minimize,
  PaintBucket,
  Pause,
  PictureInPicture2,
  Play,
  RectangleHorizontal,
  Repeat,
  Rewind,
  SkipForward,
  Volume1,
  Volume2,
  VolumeX,
} from 'lucide'
import { IconButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import type { Video } from '../server/records.ts'
import { toClock, toLanguage, toNumber } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import type { Machine } from './machine.ts'
import { PluginButtons } from './plugin-buttons.tsx'
import { categoryName } from './segment-words.ts'
import type { Step } from './step.ts'
import { SPEEDS } from './volume-and-speed.ts'

interface ControlsProps {
  machine: Machine
  video: Video
  isTheatre: boolean
  onTheatre: () => void
  next: Step | undefined
}

export function Controls({ machine, video, isTheatre, onTheatre, next }: ControlsProps) {
  const { isPlaying, position, duration, speed, subtitle, isFull, isLooping, chapter } = machine
  const subtitles = [
    { label: t('player.subtitles.off'), isChosen: subtitle.value < 0, onSelect: () => machine.chooseSubtitle(-1) },
    ...video.subtitles.map(({ name, lang, source }, number) => ({
      label: source === 'auto' ? `${toLanguage(lang, name)} (${t('video.source.auto')})` : toLanguage(lang, name),
      isChosen: subtitle.value === number,
      onSelect: () => machine.chooseSubtitle(number),
    })),
    { label: t('player.subtitles.larger'), icon: AArrowUp, onSelect: () => machine.growSubtitles(1) },
    { label: t('player.subtitles.smaller'), icon: AArrowDown, onSelect: () => machine.growSubtitles(-1) },
    {
      label: t('player.subtitles.background'),
      icon: PaintBucket,
      isOn: machine.hasSubtitleBackground.value,
      onSelect: machine.toggleSubtitleBackground,
    },
  ]
  const speeds = [
    ...SPEEDS.map((value) => ({
      label: value === 1 ? t('player.speed.normal') : `${toNumber(value)}×`,
      isChosen: speed.value === value,
      onSelect: () => machine.setSpeed(value),
    })),
    { label: t('player.loop'), icon: Repeat, isOn: isLooping.value, onSelect: machine.toggleLoop },
  ]
  const chapters = () =>
    machine.chapters.map(({ start, title }, number) => ({
      label: `${toClock(start)} · ${title}`,
      isChosen: chapter.value === number,
      onSelect: () => machine.jump(start),
    }))
  const titleNow = machine.chapters[chapter.value]?.title ?? t('player.chapter.none')
  return (
    <div class="controls">
      <Bar machine={machine} />
      <div class="controls-row">
        <IconButton
          icon={isPlaying.value ? Pause : Play}
          isFilled
          label={isPlaying.value ? t('player.pause') : t('player.play')}
          onClick={machine.toggle}
        />
        <IconButton class="roomy" icon={Rewind} label={t('player.back')} onClick={() => machine.move(-10)} />
        <IconButton class="roomy" icon={FastForward} label={t('player.forward')} onClick={() => machine.move(10)} />
        {next && <IconButton icon={SkipForward} label={t('player.next', { title: next.title })} onClick={next.go} />}
        <Volume machine={machine} />
        <span class="time">
          {toClock(position.value)} <span>/ {toClock(duration.value)}</span>
        </span>
        {machine.chapters.length > 0 && (
          <Menu label={t('player.chapters', { title: titleNow })} items={chapters} class="chapter">
            <bdi>{titleNow}</bdi>
          </Menu>
        )}
        <span class="spring" />
        <Menu label={t('player.speed')} items={speeds}>
          {speed.value === 1 ? <Icon node={Gauge} /> : <span class="speed">{toNumber(speed.value)}×</span>}
        </Menu>
        {video.subtitles.length > 0 && (
          <Menu
            label={t('player.subtitles')}
            items={subtitles}
            class={subtitle.value >= 0 ? 'icon-button on' : 'icon-button'}
          >
            <Icon node={subtitle.value >= 0 ? Captions : CaptionsOff} />
          </Menu>
        )}
        <PluginButtons machine={machine} video={video} />
        {machine.isCastable.value && <IconButton icon={Cast} label={t('player.cast')} onClick={() => machine.cast()} />}
        {document.pictureInPictureEnabled && (
          <IconButton class="roomy" icon={PictureInPicture2} label={t('player.pip')} onClick={machine.togglePip} />
        )}
        <IconButton
          class="wide-only"
          icon={RectangleHorizontal}
          label={isTheatre ? t('player.theatre.off') : t('player.theatre')}
          aria-pressed={isTheatre}
          onClick={onTheatre}
        />
        <IconButton
          icon={isFull.value ? Minimize : Maximize}
          label={isFull.value ? t('player.full.off') : t('player.full')}
          onClick={machine.toggleFull}
        />
      </div>
    </div>
  )
}

/** The step of the seek bar in seconds: fine enough for any width. */
const STEP_S = 0.1
/** The maximum number of chapter marks on the bar. */
const MOST_MARKS = 500

function Bar({ machine }: { machine: Machine }) {
  const { position, duration, buffered, segments, chapters } = machine
  const all = duration.value || 1
  const part = (seconds: number): string => `${Math.max(0, Math.min(100, (seconds / all) * 100))}%`
  const onMove = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    machine.point(Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * all)
  }
  const leave = () => machine.point(undefined)
  const lift = ({ pointerType }: PointerEvent) => pointerType !== 'mouse' && leave()
  return (
    <div
      class="seek"
      onPointerDown={onMove}
      onPointerMove={onMove}
      onPointerUp={lift}
      onPointerCancel={leave}
      onPointerLeave={leave}
    >
      <span class="seek-track">
        <span class="seek-buffered" style={{ width: part(buffered.value) }} />
        <span class="seek-played" style={{ width: part(position.value) }} />
        {apart(chapters, all).map(
          ({ start }) => start > 0 && <span key={start} class="seek-chapter" style={{ left: part(start) }} />,
        )}
        {segments.map(({ UUID, category, segment: [from = 0, to = 0] }) => (
          <span
            key={UUID}
            class="seek-segment"
            data-category={category}
            style={{ left: part(from), width: part(to - from) }}
          />
        ))}
      </span>
      <Pointed machine={machine} />
      <input
        type="range"
        aria-label={t('player.seek')}
        aria-valuetext={[
          t('player.at', { now: toClock(position.value), all: toClock(all) }),
          ...namesAt(machine, position.value),
        ].join(' · ')}
        min={0}
        max={all}
        step={STEP_S}
        value={position.value}
        onInput={({ currentTarget }) => machine.jump(Number(currentTarget.value))}
        onKeyDown={(event) => {
          const by = { ArrowLeft: -5, ArrowRight: 5, ArrowDown: -5, ArrowUp: 5, PageDown: -60, PageUp: 60 }[event.key]
          if (by === undefined) return
          event.preventDefault()
          machine.move(by)
        }}
      />
    </div>
  )
}

/** Leaves out marks that would touch the previous mark: a video may have thousands of chapters. */
function apart(chapters: Machine['chapters'], seconds: number): Machine['chapters'] {
  let last = -Infinity
  return chapters.filter(({ start }) => {
    const isApart = start - last >= seconds / MOST_MARKS
    if (isApart) last = start
    return isApart
  })
}

/** The names of the chapter and the segments at a time. */
const namesAt = ({ chapters, segments }: Machine, seconds: number): string[] =>
  [
    chapters.findLast(({ start }) => start <= seconds)?.title,
    ...segments
      .filter(({ segment: [from = 0, to = 0] }) => seconds >= from && seconds < to)
      .map(({ category }) => categoryName(category)),
  ].filter((name) => name !== undefined)

/** The preview at the pointer: picture, time, chapter, segments. */
function Pointed({ machine }: { machine: Machine }) {
  const seconds = machine.pointed.value
  if (seconds === undefined) return null
  const picture = machine.previewAt(seconds)
  const half = (picture?.width ?? 0) / 2
  const at = `${Math.min(1, seconds / (machine.duration.value || 1)) * 100}%`
  return (
    <span class="seek-hint" aria-hidden="true" style={{ left: `clamp(${half}px, ${at}, calc(100% - ${half}px))` }}>
      {picture && (
        <span
          class="seek-picture"
          style={{
            width: `${picture.width}px`,
            height: `${picture.height}px`,
            backgroundImage: `url("${picture.url}")`,
            backgroundPosition: `${picture.left}px ${picture.top}px`,
          }}
        />
      )}
      <span>{[toClock(seconds), ...namesAt(machine, seconds)].join(' · ')}</span>
    </span>
  )
}

function Volume({ machine }: { machine: Machine }) {
  const { volume, isMuted } = machine
  const level = isMuted.value ? 0 : volume.value
  return (
    <span class="volume">
      <IconButton
        icon={level === 0 ? VolumeX : level < 0.5 ? Volume1 : Volume2}
        label={isMuted.value ? t('player.unmute') : t('player.mute')}
        onClick={machine.toggleMute}
      />
      <input
        type="range"
        aria-label={t('player.volume')}
        min={0}
        max={1}
        step={0.05}
        value={level}
        onInput={({ currentTarget }) => machine.setVolume(Number(currentTarget.value))}
      />
    </span>
  )
}
