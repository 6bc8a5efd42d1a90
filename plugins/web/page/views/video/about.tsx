/** Details of a video: its description with timestamps that seek, and the file with its streams. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { HostileText } from '../../parts/hostile-text.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { get } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { FileChecksum, Stream, Video } from '../../server/records.ts'
import { isThere } from '../../stores/left-out.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toBytes, toDay, toLanguage, toMoment, toNumber, toSpan } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { receiptFacts } from './receipt.tsx'

export function About({ video, onJump }: { video: Video; onJump: (seconds: number) => void }) {
  const [isOpen, setOpen] = useState(false)
  const [isLong, setLong] = useState(false)
  const text = useRef<HTMLDivElement>(null)
  // The width determines whether the text is cut off.
  useLayoutEffect(() => {
    const element = text.current
    if (!element) return
    const measure = () => setLong(element.scrollHeight > element.clientHeight + 2)
    const observer = new ResizeObserver(() => !isOpen && measure())
    observer.observe(element)
    return () => observer.disconnect()
  }, [isOpen])
  return (
    <section class="about">
      <h2>{t('video.about')}</h2>
      {video.description === '' ? (
        <p class="hint">{t('video.noAbout')}</p>
      ) : (
        <>
          <div ref={text} class={isOpen ? 'about-text open' : 'about-text'} dir="auto">
            <HostileText text={video.description} times={{ duration: video.player.duration, onJump }} />
          </div>
          {(isLong || isOpen) && (
            <button
              type="button"
              class="link"
              aria-label={t('action.of', {
                action: isOpen ? t('action.less') : t('action.more'),
                title: t('video.about'),
              })}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? t('action.less') : t('action.more')}
            </button>
          )}
        </>
      )}
    </section>
  )
}

export function Files({ video }: { video: Video }) {
  const facts: Array<[string, string]> = [
    [t('video.published'), toDay(video.published)],
    [t('video.saved'), toMoment(video.date_downloaded)],
    [t('video.read'), toDay(video.vid_last_refresh)],
    [t('video.size'), `${toBytes(video.media_size)} · ${toSpan(video.player.duration)}`],
    [t('video.type'), t(`home.type.${video.vid_type}`)],
    ...(video.place
      ? [
          [
            t('video.place'),
            video.place.ours ? video.place.label : t('video.place.read', { place: video.place.label }),
          ] as [string, string],
        ]
      : []),
    ...(video.keep ? [[t('video.exempt'), t('video.exempt.yes')] as [string, string]] : []),
    ...receiptFacts(video),
    ...video.streams.map((stream): [string, string] => [t(`video.stream.${stream.type}`), describe(stream)]),
    ...(video.subtitles.length > 0
      ? [
          [
            t('video.subtitles'),
            video.subtitles
              .map(({ name, lang, source }) => `${toLanguage(lang, name)} (${t(`video.source.${source}`)})`)
              .join(', '),
          ] as [string, string],
        ]
      : []),
    ...(video.tags.length > 0 ? [[t('video.tags'), video.tags.join(', ')] as [string, string]] : []),
  ]
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="files" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('video.files')}</summary>
      <dl>
        {facts.map(([name, text], position) => (
          <div key={position}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
        <div>
          <dt>{t('video.file')}</dt>
          <dd>
            <a href={under(video.media_url)} target="_blank" rel="noopener">
              {t('video.fileLink')}
            </a>
          </dd>
        </div>
      </dl>
      {isOpen && isThere('checksum') && <Checksums id={video.platform_id} />}
    </details>
  )
}

function Checksums({ id }: { id: string }) {
  const files = useLoad<FileChecksum[]>(`checksums/${id}`, (signal) => get(`/api/checksum/video/${id}/`, {}, signal))
  return (
    <Loaded from={files} height="40px">
      {(all) => (
        <dl>
          {all.map(({ kind, part, sha256, read, state }) => (
            <div key={`${kind} ${part}`}>
              <dt>{t(`video.checksum.${kind}`, { language: kind === 'subtitle' ? toLanguage(part) : '' })}</dt>
              <dd>
                <code>{sha256}</code>
                <br />
                {t(`settings.safety.state.${state}`)} · {t('video.checksum.read', { age: toAge(read) })}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Loaded>
  )
}

const describe = ({ codec, width, height, bitrate }: Stream): string =>
  [
    codec,
    width && height ? `${toNumber(width)} × ${toNumber(height)}` : '',
    bitrate > 0 ? `${toNumber(Math.round(bitrate / 1000))} kbit/s` : '',
  ]
    .filter(Boolean)
    .join(' · ')
