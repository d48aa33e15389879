import { useNavigate } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, Monitor, Moon, Sun, Terminal, User, type LucideIcon } from 'lucide-react'
import type { MenuAction } from '../parts/menu'
import { showApiCalls } from './api-calls'
import { useUpdatePreferences } from '../preferences'
import { chosenTheme, type Theme } from '../theme'
import { useSignOut } from './sign-out'

/** An action in the palette or the user menu, available on every page. */
export interface QuickAction extends MenuAction {
  label: string
  icon: LucideIcon
  /** Label in the palette, if it differs. */
  longLabel?: string
}

/** Themes with their label and icon. */
export const themes: readonly (readonly [Theme, string, LucideIcon])[] = [
  ['system', 'System', Monitor],
  ['light', 'Light', Sun],
  ['dark', 'Dark', Moon],
]

/** Returns the groups of actions in the user menu. */
export function useUserActions(showShortcuts: () => void): QuickAction[][] {
  const navigate = useNavigate()
  const updatePreferences = useUpdatePreferences()
  const signOut = useSignOut()
  const chosen = chosenTheme()
  return [
    [
      { label: 'Your profile', icon: User, onSelect: () => void navigate({ to: '/profile' }) },
      { label: 'Handbook', icon: BookOpen, onSelect: () => location.assign('/docs') },
      { label: 'View API calls', icon: Terminal, onSelect: showApiCalls },
      { label: 'Keyboard shortcuts', icon: Keyboard, onSelect: showShortcuts },
    ],
    themes.map(([theme, label, icon]) => ({
      label,
      icon,
      longLabel: `Theme: ${label.toLowerCase()}`,
      selected: theme === chosen,
      onSelect: () => updatePreferences({ theme }),
    })),
    [{ label: 'Sign out', icon: LogOut, onSelect: signOut }],
  ]
}
