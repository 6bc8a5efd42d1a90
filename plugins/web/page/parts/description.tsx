/** A description from the platform: two lines, and the rest on demand. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../texts/lookup.ts'
import { HostileText } from './hostile-text.tsx'

export function Description({ text, of }: { text: string; of: string }) {
  const [isWhole, setWhole] = useState(false)
  const [isLong, setLong] = useState(false)
  const box = useRef<HTMLParagraphElement>(null)
  useEffect(() => setLong(box.current !== null && box.current.scrollHeight > box.current.clientHeight + 2), [text])
  if (text.trim() === '') return null
  return (
    <div class="description">
      <p ref={box} class={isWhole ? '' : 'two-lines'} dir="auto">
        <HostileText text={text} />
      </p>
      {(isLong || isWhole) && (
        <button
          type="button"
          class="link"
          aria-label={t('action.of', { action: isWhole ? t('action.less') : t('action.more'), title: of })}
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? t('action.less') : t('action.more')}
        </button>
      )}
    </div>
  )
}
