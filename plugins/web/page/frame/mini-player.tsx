/** The video that continues in the corner, with a link back to its view. */
import { Pause, Play, SkipForward, X } from 'lucide'
import { useEffect } from 'preact/hooks'
import { IconButton } from '../parts/button.tsx'
import { coming, corner, dock } from '../player/corner.ts'
import { under } from '../server/base.ts'
import { t } from '../texts/lookup.ts'

export function MiniPlayer() {
  const playing = corner.value
  const next = coming.value
  // Without this box, the video would continue invisibly.
  useEffect(() => () => corner.peek()?.close(), [])
  return (
    <aside class="mini" hidden={!playing} aria-label={t('mini.label')}>
      {/* `player/stage.tsx` moves the player in and out. */}
      <div ref={dock} class="mini-picture" />
      {playing && (
        <div class="mini-row">
          {next ? (
            <span class="mini-title" role="status">
              {next.left === undefined
                ? t('player.next', { title: next.title })
                : t('player.nextIn', { count: next.left, title: next.title })}
            </span>
          ) : (
            <a class="mini-title" href={under(playing.path)} dir="auto">
              {playing.title}
            </a>
          )}
          {next && <IconButton icon={SkipForward} label={t('player.playNow')} onClick={next.go} />}
          <IconButton
            icon={playing.isPlaying.value ? Pause : Play}
            isFilled
            label={playing.isPlaying.value ? t('player.pause') : t('player.play')}
            onClick={playing.toggle}
          />
          <IconButton icon={X} label={t('mini.close')} onClick={playing.close} />
        </div>
      )}
    </aside>
  )
}
