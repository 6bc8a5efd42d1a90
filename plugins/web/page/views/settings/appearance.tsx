/** The appearance of the page for this account. */
import { chooseLayout, LAYOUTS, layout } from '../../browser/layout.ts'
import { CATEGORIES, categoryName } from '../../player/segment-words.ts'
import type { UserPreferences } from '../../server/records.ts'
import { languageChoices } from '../../stores/language.ts'
import {
  changeUserPreferences,
  chooseLanguage,
  chooseTheme,
  community,
  type Theme,
  theme,
  userPreferences,
} from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'
import { Group, NumberOption, SelectOption } from './option.tsx'

const THEMES: Theme[] = ['system', 'light', 'dark']
const TITLES = ['ask', 'community', 'original'] as const
const SEGMENT_CHOICES = ['skip', 'show', 'mute'] as const
const LISTS = ['home', 'channel'] as const

export function AppearanceSection() {
  const now = userPreferences.value
  const of = community.value
  const styles = (['grid', 'list', 'table'] as const).map((value) => ({ value, label: t(`settings.style.${value}`) }))
  return (
    <>
      <Group title={t('language.label')}>
        <SelectOption
          label={t('language.label')}
          hint={t('settings.colours.hint')}
          value={now.language ?? ''}
          choices={languageChoices()}
          onSave={chooseLanguage}
        />
      </Group>
      <Group title={t('settings.colours')}>
        <SelectOption
          label={t('account.theme')}
          hint={t('settings.colours.hint')}
          value={theme.value}
          choices={THEMES.map((value) => ({ value, label: t(`theme.${value}`) }))}
          onSave={chooseTheme}
        />
      </Group>
      <Group title={t('settings.layout')}>
        <SelectOption
          label={t('settings.layout.device')}
          hint={t('settings.layout.hint')}
          value={layout.value}
          choices={LAYOUTS.map((value) => ({ value, label: t(`settings.layout.${value}`) }))}
          onSave={async (value) => chooseLayout(value)}
        />
      </Group>
      {of.includes('titles') && (
        <Group title={t('settings.titles')}>
          <SelectOption
            label={t('settings.titles.which')}
            hint={t('settings.titles.hint')}
            value={now.titles ?? 'ask'}
            choices={TITLES.map((value) => ({ value, label: t(`settings.titles.${value}`) }))}
            onSave={(titles) => changeUserPreferences({ titles })}
          />
        </Group>
      )}
      {of.includes('segments') && (
        <Group title={t('settings.segments')} hint={t('settings.segments.hint')}>
          {CATEGORIES.map((category) => (
            <SelectOption
              key={category}
              label={categoryName(category)!}
              value={now.segments?.[category] ?? 'skip'}
              choices={SEGMENT_CHOICES.map((value) => ({ value, label: t(`settings.segments.${value}`) }))}
              onSave={(value) =>
                changeUserPreferences({ segments: { ...userPreferences.peek().segments, [category]: value } })
              }
            />
          ))}
        </Group>
      )}
      <Group title={t('settings.lists')}>
        {LISTS.map((list) => {
          const key = `view_style_${list}` as const
          return (
            <SelectOption
              key={list}
              label={t(`settings.lists.${list}`)}
              value={now[key] ?? 'grid'}
              choices={styles}
              onSave={(value) => changeUserPreferences({ [key]: value } as Partial<UserPreferences>)}
            />
          )
        })}
        <NumberOption
          label={t('settings.pageSize')}
          hint={t('settings.pageSize.hint')}
          min={1}
          max={200}
          field="page_size"
          value={now.page_size || false}
          empty={false}
          onSave={(value) => changeUserPreferences({ page_size: value || 0 })}
        />
      </Group>
    </>
  )
}
