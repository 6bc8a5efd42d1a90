/**
 * Buttons that plugins add to the player. An action runs in a hidden frame until it ends, and shows its result over the
 * picture.
 */
import { signal } from '@preact/signals'
import { Puzzle } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { navigate } from '../browser/router.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { openHost, readerNow } from '../parts/plugin-host.ts'
import { under } from '../server/base.ts'
import type { PluginPage, Video } from '../server/records.ts'
import { playerButtons } from '../stores/plugin-pages.ts'
import { t } from '../texts/lookup.ts'
import type { Machine } from './machine.ts'

/** The last message of a button. The same text again is a new message. */
export const saying = signal<{ text: string } | undefined>(undefined)

const say = (text: string): void => void (saying.value = { text })

interface Parts {
  machine: Machine
  video: Video
}

export function PluginButtons(parts: Parts) {
  const [pressed, setPressed] = useState<{ button: PluginPage; press: number } | undefined>()
  useEffect(() => () => void (saying.value = undefined), [])
  const buttons = playerButtons.value ?? []
  if (buttons.length === 0) return null
  const items = buttons.map((button) => ({
    label: button.title,
    onSelect: () => setPressed({ button, press: (pressed?.press ?? 0) + 1 }),
  }))
  return (
    <>
      <Menu label={t('plugin.buttons')} items={items}>
        <Icon node={Puzzle} />
      </Menu>
      {pressed && <Work key={pressed.press} button={pressed.button} {...parts} />}
    </>
  )
}

/** Runs the action for one press; the next press replaces it. */
function Work({ button, machine, video }: Parts & { button: PluginPage }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isOpen, setOpen] = useState(true)
  const { title } = button

  useEffect(() => {
    if (!isOpen) return
    const end = (text?: string) => {
      if (text !== undefined) say(text)
      setOpen(false)
    }
    const host = openHost({
      frame: frame.current!,
      page: button,
      begin: () => ({
        reader: readerNow(),
        query: {},
        playing: {
          videoId: video.platform_id,
          title: video.title,
          position: machine.position.peek(),
          duration: machine.duration.peek(),
        },
      }),
      navigate,
      player: {
        say,
        jump: (seconds) => machine.jump(Math.min(seconds, machine.duration.peek())),
        done: () => end(),
      },
      failed: (message) => end(t('plugin.button.failed', { title, message })),
      stuck: (isStuck) => isStuck && end(t('plugin.button.stuck', { title })),
      flooded: () => end(t('plugin.button.flooded', { title })),
    })
    return host.close
  }, [isOpen])

  if (!isOpen) return null
  return (
    <iframe
      ref={frame}
      hidden
      title={title}
      sandbox="allow-scripts allow-forms"
      src={under(`/plugin-page/${button.plugin}/player/`)}
    />
  )
}
