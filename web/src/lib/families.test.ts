import { describe, expect, it } from 'vitest';

import { isLaunch, isOwnTool, toolFamilies } from './families';

describe("errand's own tools", () => {
  it('are known by all of their names', () => {
    expect(toolFamilies).toHaveLength(4);
    for (const family of toolFamilies) {
      expect(isOwnTool(`${family}_output`)).toBe(true);
      expect(isLaunch(`${family}_output`)).toBe(false);
      expect(isLaunch(`${family}_task`)).toBe(true);
      expect(isLaunch(`${family}_execute`)).toBe(true);
    }
  });
  it('are told from those of others', () => {
    for (const name of ['bash', 'background', 'mybackground_task', 'background_taskmaster', 'task'])
      expect(isLaunch(name), name).toBe(false);
  });
});
