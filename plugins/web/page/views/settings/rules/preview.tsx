/** The preview of the keeping rules: totals, and each video with the rule that decided and its conditions. */
import { Play } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../../parts/button.tsx'
import { confirm } from '../../../parts/dialog.tsx'
import { Chips } from '../../../parts/field.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Pages } from '../../../parts/pages.tsx'
import { conditionWords, scopeName } from '../../../parts/rule-words.ts'
import { say } from '../../../parts/toast.ts'
import { get, post } from '../../../server/api.ts'
import { under } from '../../../server/base.ts'
import type { Rule, RulePreview, RuleRow, RuleRows, RuleRun } from '../../../server/records.ts'
import { forget, useLoad } from '../../../stores/load.ts'
import { toBytes, toMoment } from '../../../texts/format.ts'
import { t } from '../../../texts/lookup.ts'

const OUTCOMES = ['remove', 'fetch', 'keep'] as const
type Outcome = (typeof OUTCOMES)[number]
const PAGE = 50

interface Props {
  preview: RulePreview
  rules: readonly Rule[]
  onRun?: () => void
}

export function Preview({ preview, rules, onRun }: Props) {
  const { id, outcomes, is_large: isLarge, undecided, bin_bytes: binBytes, made } = preview
  const { remove, fetch } = outcomes
  const [outcome, choose] = useState<Outcome>('remove')
  const run = async () => {
    if (isLarge) {
      const isSure = await confirm({
        title: t('rules.run.title', { count: remove.videos + fetch.videos }),
        text: <p>{t('rules.run.text')}</p>,
        action: t('rules.run'),
        isDangerous: true,
      })
      if (!isSure) return
    }
    await post<RuleRun>('/api/rule/run/', { preview: id, confirmed: isLarge })
    forget()
    say(t('rules.run.begun'))
    onRun?.()
  }
  return (
    <div class="option-form rule-preview">
      <p>
        <strong>{t('rules.sum.remove', { count: remove.videos, size: toBytes(remove.bytes) })}</strong>
        {fetch.videos > 0 && ` · ${t('rules.sum.fetch', { count: fetch.videos })}`}
        {` · ${t('rules.sum.stay', { count: outcomes.keep.videos + undecided })}`}
      </p>
      {remove.videos > 0 && (
        <p class="meta">
          {t('rules.sum.freed', { size: toBytes(remove.freed) })}
          {binBytes > 0 && ` ${t('rules.sum.bin', { size: toBytes(binBytes) })}`}
        </p>
      )}
      <p class="meta">{t('rules.preview.made', { when: toMoment(made) })}</p>
      <Chips
        label={t('rules.preview.outcomes')}
        value={outcome}
        choices={OUTCOMES.map((one) => ({
          value: one,
          label: t('rules.preview.outcome', { outcome: t(`rules.outcome.${one}`), count: outcomes[one].videos }),
        }))}
        onChange={choose}
      />
      <Rows key={outcome} id={id} outcome={outcome} rules={rules} />
      {onRun && remove.videos + fetch.videos > 0 && (
        <div class="buttons">
          <Button kind="main" icon={Play} onClick={run}>
            {t('rules.run')}
          </Button>
        </div>
      )}
    </div>
  )
}

function Rows({ id, outcome, rules }: { id: number; outcome: Outcome; rules: readonly Rule[] }) {
  const [page, setPage] = useState(1)
  const rows = useLoad<RuleRows>(`rules/preview ${id} ${outcome} ${page}`, (signal) =>
    get(`/api/rule/preview/${id}/row/`, { outcome, page }, signal),
  )
  return (
    <Loaded from={rows} height="120px">
      {({ rows: shown, total }) => (
        <>
          {total === 0 && <p class="hint">{t('rules.preview.none')}</p>}
          <ul class="settings-rows rule-rows">
            {shown.map((row) => (
              <PreviewRow key={row.video_id} row={row} rule={rules.find((one) => one.id === row.rule)} />
            ))}
          </ul>
          {total > PAGE && (
            <div class="buttons">
              <Pages
                page={page}
                isMore={page * PAGE < total}
                onPage={setPage}
                before={t('rules.page.before')}
                after={t('rules.page.next')}
              />
            </div>
          )}
        </>
      )}
    </Loaded>
  )
}

function PreviewRow({ row, rule }: { row: RuleRow; rule: Rule | undefined }) {
  const { video_id: id, title, vid_thumb_url: picture, bytes, note, why, is_gone: isGone } = row
  const conditions = conditionWords(why)
  return (
    <li>
      <img src={under(picture)} alt="" loading="lazy" width={96} height={54} />
      <div class="row-words">
        {isGone ? (
          <strong dir="auto">{title}</strong>
        ) : (
          <a href={under(`/video/${id}/`)} dir="auto">
            {title}
          </a>
        )}
        <p class="meta">
          {[
            toBytes(bytes),
            rule ? rule.name || scopeName(rule) : t('rules.preview.formerRule'),
            conditions.length > 0 ? conditions.join(' · ') : t('rules.is.any'),
          ].join(' · ')}
        </p>
        {note && <p class="meta">{t(`rules.note.${note}`)}</p>}
      </div>
    </li>
  )
}
